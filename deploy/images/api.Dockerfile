# The text API as an image:   docker build -f deploy/images/api.Dockerfile -t befund-api:latest .
# Without the catalog: it is a folder, mounted read-only at /var/lib/befund/catalog (`make catalog SOURCE=dir` makes it).
# Pin the base by digest where your registry gives one: --build-arg PYTHON=python@sha256:...
ARG PYTHON=python:3.11-slim-bookworm

FROM ${PYTHON} AS build
WORKDIR /build
# For the loops of the search alone; this stage is left behind.
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev
COPY pyproject.toml constraints.txt ./
# What serving needs, at the versions of constraints.txt and as wheels.
RUN python -m venv /opt/befund \
 && /opt/befund/bin/python -c "import tomllib; p = tomllib.load(open('pyproject.toml', 'rb'))['project']; print(*p['dependencies'], *p['optional-dependencies']['serve'], sep='\n')" > needed.txt \
 && /opt/befund/bin/pip install --no-cache-dir --only-binary :all: -c constraints.txt -r needed.txt \
 && /opt/befund/bin/pip uninstall --yes pip setuptools
COPY clinical clinical
RUN /opt/befund/bin/python clinical/search/native/library.py

FROM ${PYTHON}
# Recognises scanned letters; without it they are refused.
RUN apt-get update && apt-get install -y --no-install-recommends tesseract-ocr tesseract-ocr-deu && rm -rf /var/lib/apt/lists/*
RUN useradd --system --uid 10001 --home-dir /var/lib/befund --create-home befund
COPY --from=build /opt/befund /opt/befund
WORKDIR /app
COPY --from=build /build/clinical clinical
COPY bentos bentos
# The server writes nothing here, and would compile it at each start, in each process.
RUN /opt/befund/bin/python -m compileall -q --invalidation-mode unchecked-hash bentos clinical
ENV PATH=/opt/befund/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 BENTOML_DO_NOT_TRACK=True \
    BENTOML_HOME=/tmp/bentoml \
    BEFUND_ENV=production BEFUND_API_HOST=0.0.0.0 BEFUND_VAR=/var/lib/befund BEFUND_CATALOG=/var/lib/befund/catalog
USER 10001:10001
EXPOSE 3000
# Ready: the catalog is loaded, the key database and the counter of the rates answer.
HEALTHCHECK --interval=10s --timeout=3s --start-period=120s --retries=3 \
  CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:3000/internal/readyz', timeout=2)"]
CMD ["python", "-m", "bentos", "serve"]
