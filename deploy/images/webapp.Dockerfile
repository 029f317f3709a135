# The webapp as an image:   docker build -f deploy/images/webapp.Dockerfile -t befund-webapp:latest .
# Its tables first, once for each version:   docker run ... befund-webapp flask --app webapp db upgrade
# Pin the base by digest where your registry gives one: --build-arg PYTHON=python@sha256:...
ARG PYTHON=python:3.11-slim-bookworm

FROM ${PYTHON} AS build
WORKDIR /build
COPY pyproject.toml constraints.txt ./
# What the webapp needs, at the versions of constraints.txt and as wheels: nothing is compiled, no compiler is installed.
RUN python -m venv /opt/befund \
 && /opt/befund/bin/python -c "import tomllib; p = tomllib.load(open('pyproject.toml', 'rb'))['project']; print(*p['dependencies'], *p['optional-dependencies']['webapp'], sep='\n')" > needed.txt \
 && /opt/befund/bin/pip install --no-cache-dir --only-binary :all: -c constraints.txt -r needed.txt \
 && /opt/befund/bin/pip uninstall --yes pip setuptools

FROM ${PYTHON}
RUN useradd --system --uid 10001 --home-dir /var/lib/befund --create-home befund \
 && install -d -o befund -g befund /var/lib/befund/files
COPY --from=build /opt/befund /opt/befund
WORKDIR /app
COPY clinical clinical
COPY webapp webapp
# The server writes nothing here, and would compile it at each start, in each process.
RUN /opt/befund/bin/python -m compileall -q --invalidation-mode unchecked-hash clinical webapp
ENV PATH=/opt/befund/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 \
    BEFUND_ENV=production BEFUND_WEB_HOST=0.0.0.0 BEFUND_WEB_PIN=off BEFUND_VAR=/var/lib/befund \
    BEFUND_STORAGE=file:///var/lib/befund/files
USER 10001:10001
EXPOSE 5000
# Ready: database, stored files, the counter of the limits, and the key that the vendors' secrets are sealed with.
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
  CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:5000/internal/readyz', timeout=2)"]
CMD ["python", "-m", "webapp", "serve"]
