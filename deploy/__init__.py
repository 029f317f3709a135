"""Files for running it elsewhere: one machine, services, a cluster, images, bundles, releases, and what watches it."""
