# befund.conf for the nginx of a Debian host, in place of that of a container:
#   sed -f host.sed -e 's/befund\.example/YOUR.NAME/g' befund.conf > /etc/nginx/nginx.conf
s#^worker_processes#user www-data;\n&#
s#^pid .*#pid /run/nginx.pid;#
s#/tmp/nginx;#/var/lib/nginx/befund;#
s#/run/secrets/tls_#/etc/befund/tls/#
s#/dev/stderr errors#/var/log/befund/nginx.log errors#
s#server api:#server 127.0.0.1:#
s#server webapp:#server 127.0.0.1:#
s#listen 8080#listen 80#
s#listen 8443#listen 443#
