"""The deployments as files, as far as they can be tried without a container engine."""

from __future__ import annotations

import re
import secrets
import shutil
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import compose_spec
import kubernetes_validate
import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from bentos.api import contract_paths
from bentos.gpu_host import read
from clinical.settings import Settings
from tests.conftest import ROOT
from tests.nginx import program
from tests.test_architecture import PROJECT, _canonical, _pins
from webapp.config import load_settings

DEPLOY = ROOT / "deploy"
COMPOSE = DEPLOY / "compose.yaml"
SECRETS = {
    "secret_key": secrets.token_urlsafe(48),
    "database_url": "postgresql://befund:befund@postgres/befund",
    "limits_url": "redis://:befund@redis:6379/0",
    "mail_url": "smtp://befund:befund@mail:587",
}
OVERLAYS = ("base", "several-gpus", "several-nodes")
LOOSEST = 2.5
"""systemd's exposure of a unit, 0 to 10; "OK" is below 4.0. Measured here: 1.5, 1.5, 2.0."""


def _compose() -> dict:
    return yaml.safe_load(COMPOSE.read_text("utf-8"))


def _documents(overlay: str) -> list[dict]:
    """Documents that `kubectl apply -k` would send; without kubectl the base as it is written, without its patches."""
    if kubectl := shutil.which("kubectl"):
        command = [kubectl, "kustomize", str(DEPLOY / "kustomize" / overlay)]
        text = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
        return list(yaml.safe_load_all(text))
    files = [path for path in (DEPLOY / "kustomize" / "base").glob("*.yaml") if path.stem != "kustomization"]
    return [document for path in files for document in yaml.safe_load_all(path.read_text("utf-8"))]


def _of(kind: str, name: str, documents: list[dict]) -> dict:
    return next(d for d in documents if d["kind"] == kind and d["metadata"]["name"].startswith(name))


def _container(name: str, documents: list[dict]) -> dict:
    return _of("Deployment", name, documents)["spec"]["template"]["spec"]["containers"][0]


def _env_file(path: Path) -> dict[str, str]:
    return dict(line.split("=", 1) for line in path.read_text("utf-8").splitlines())


@pytest.fixture
def accepted(monkeypatch, tmp_path):
    """A function that reads settings as a container would: what names a secret names a file of this test."""

    def read_as(environment: dict[str, str], reader):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("BEFUND_ENV", "production")
        for name, value in environment.items():
            if name.endswith("_FILE"):
                secret = Path(value).name
                (tmp_path / secret).write_text(SECRETS.get(secret, "a-key-of-some-length"), "utf-8")
                value = str(tmp_path / secret)
            monkeypatch.setenv(name, re.sub(r"\$\{\w+:-(.*?)\}", r"\1", value))
        return reader()

    return read_as


# --- compose ----------------------------------------------------------------------------------------------------------


def test_the_compose_file_follows_its_schema_and_names_only_what_it_defines():
    compose_spec.PyCompose.from_yaml(yaml.safe_dump(_compose())).validate()
    wrong = _compose()
    wrong["services"]["api"]["secrets"].append("nowhere")
    with pytest.raises(ValueError, match="nowhere"):
        compose_spec.PyCompose.from_yaml(yaml.safe_dump(wrong)).validate()


def test_each_secret_that_a_setting_names_is_mounted_there_and_only_nginx_is_reached_from_outside():
    services = _compose()["services"]
    for name, service in services.items():
        named = {Path(v).name for k, v in service.get("environment", {}).items() if k.endswith("_FILE")}
        assert named <= set(service.get("secrets", [])), name
    assert [name for name, service in services.items() if "ports" in service] == ["nginx"]
    assert _compose()["networks"]["inside"]["internal"] is True


@pytest.mark.parametrize(("service", "reader"), [("api", Settings.read), ("webapp", load_settings)])
def test_the_settings_of_the_compose_file_are_accepted_in_production(service, reader, accepted):
    found = accepted(_compose()["services"][service]["environment"], reader)
    assert found.limits_url == SECRETS["limits_url"]


def test_prometheus_asks_both_servers_where_their_metrics_are_with_the_key_that_they_want():
    asked = yaml.safe_load((DEPLOY / "prometheus" / "prometheus.yml").read_text("utf-8"))
    services = _compose()["services"]
    assert asked["rule_files"] == ["/etc/prometheus/alerts.yml"]
    for job in asked["scrape_configs"]:
        (target,) = job["static_configs"][0]["targets"]
        key = services[target.partition(":")[0]]["environment"]["BEFUND_INTERNAL_KEY_FILE"]
        assert job["authorization"]["credentials_file"] == key
        assert job["metrics_path"] == f"{Settings().internal_path}/metrics"
        assert Path(key).name in services["prometheus"]["secrets"]
    ports = {f"api:{Settings().api_port}", f"webapp:{Settings().web_port}"}
    assert {job["static_configs"][0]["targets"][0] for job in asked["scrape_configs"]} == ports


def test_the_grace_of_a_container_is_longer_than_what_it_needs_to_end():
    services = _compose()["services"]
    drain = int(services["api"]["environment"]["BEFUND_DRAIN_SECONDS"])
    assert int(services["api"]["stop_grace_period"].rstrip("s")) > drain
    pods = _documents("base")
    drain = int(_env_file(DEPLOY / "kustomize/base/api.env")["BEFUND_DRAIN_SECONDS"])
    pod = _of("Deployment", "api", pods)["spec"]["template"]["spec"]
    wait = int(pod["containers"][0]["lifecycle"]["preStop"]["exec"]["command"][1])
    assert pod["terminationGracePeriodSeconds"] > drain + wait
    unit = (DEPLOY / "systemd/befund-api.service").read_text("utf-8")
    assert int(re.search(r"TimeoutStopSec=(\d+)", unit)[1]) > int(re.search(r"DRAIN_SECONDS=(\d+)", unit)[1])


# --- Kubernetes -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_manifests_follow_the_schemas_of_kubernetes(overlay):
    documents = _documents(overlay)
    assert len(documents) > 12
    for document in documents:
        kubernetes_validate.validate(document, kubernetes_validate.latest_version(), strict=True)
    wrong = _of("Deployment", "api", documents)
    wrong["spec"]["template"]["spec"]["containers"][0]["livenesProbe"] = {}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, kubernetes_validate.latest_version(), strict=True)


def test_every_server_has_its_probes_its_end_and_no_rights_it_does_not_need():
    documents = _documents("base")
    for name in ("api", "webapp", "vllm"):
        container = _container(name, documents)
        assert {"startupProbe", "livenessProbe", "readinessProbe", "lifecycle", "resources"} <= set(container), name
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        mounts = {mount["mountPath"] for mount in container["volumeMounts"]}
        files = [v for k, v in _environment(name, container).items() if k.endswith("_FILE")]
        assert files
        assert {str(Path(file).parent) for file in files} <= mounts, name
    for name in ("api", "webapp"):
        probes = _container(name, documents)
        asked = [probes[f"{kind}Probe"]["httpGet"]["path"] for kind in ("startup", "readiness", "liveness")]
        assert asked == ["/internal/readyz", "/internal/readyz", "/internal/livez"], name
    queue = _of("HorizontalPodAutoscaler", "api", documents)["spec"]["metrics"][0]["pods"]["metric"]["name"]
    assert queue == "befund_streams_open", "what more pods relieve; calls that wait for a GPU they do not"
    assert queue in (ROOT / "docs" / "operate.md").read_text("utf-8")


def _environment(name: str, container: dict) -> dict[str, str]:
    if "env" in container:
        return {row["name"]: row.get("value", "") for row in container["env"]}
    return _env_file(DEPLOY / "kustomize" / "base" / f"{name}.env")


@pytest.mark.parametrize(("name", "reader"), [("api", Settings.read), ("webapp", load_settings)])
def test_the_settings_of_the_pods_are_accepted_in_production(name, reader, accepted):
    assert accepted(_env_file(DEPLOY / "kustomize" / "base" / f"{name}.env"), reader).env == "production"


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_settings_of_the_language_model_are_accepted_and_ask_for_the_gpus_of_the_pod(overlay, tmp_path):
    container = _container("vllm", _documents(overlay))
    key = tmp_path / "model_key"
    key.write_text("a-key-of-some-length", "utf-8")
    here = _environment("vllm", container)
    here |= {"BEFUND_VLLM_MODEL": str(tmp_path), "BEFUND_VLLM_API_KEY_FILE": str(key)}
    host = read(here, {}, [])
    assert str(host.gpus) == container["resources"]["limits"]["nvidia.com/gpu"]


# --- images, nginx, systemd -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("image", "extra"), [("api", "serve"), ("webapp", "webapp")])
def test_an_image_installs_pinned_wheels_alone_and_copies_nothing_that_is_not_there(image, extra, tmp_path):
    recipe = (DEPLOY / "images" / f"{image}.Dockerfile").read_text("utf-8")
    assert "--only-binary :all: -c constraints.txt" in recipe
    *_, last = re.split(r"^FROM ", recipe, flags=re.MULTILINE)
    assert not re.search(r"gcc|libc6-dev|build-essential", last), "what serves has no compiler"
    assert re.search(r"^HEALTHCHECK ", recipe, re.MULTILINE)
    assert "/internal/readyz" in recipe[recipe.index("HEALTHCHECK") :]
    [asked] = re.findall(r'urlopen\([^"]+', recipe)
    service = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))["services"][image]
    assert asked in service["healthcheck"]["test"][-1], "an image of OCI's format has no HEALTHCHECK"
    assert re.search(r"^USER 10001", recipe, re.MULTILINE)
    code = re.search(r'python -c "(import tomllib.*)" > needed', recipe)[1]
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    asked = done.stdout.splitlines()
    assert set(PROJECT["project"]["optional-dependencies"][extra]) <= set(asked)
    assert {_canonical(requirement) for requirement in asked} <= set(_pins())
    compiled = re.search(r"compileall .*-hash (.+)$", last, re.MULTILINE)[1].split()
    assert set(compiled) == set(re.findall(r"^COPY .+ ([a-z]+)$", last, re.MULTILINE))
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", recipe, re.MULTILINE)
    allowed = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    for name in " ".join(copied).split():
        assert (ROOT / name).exists(), name
        assert f"!{name}" in allowed


def _certificate(folder: Path) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "befund.example")])
    now = datetime.now(UTC)
    made = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    made = made.serial_number(1).not_valid_before(now).not_valid_after(now + timedelta(days=1))
    pem = serialization.Encoding.PEM
    (folder / "tls_certificate").write_bytes(made.sign(key, hashes.SHA256()).public_bytes(pem))
    plain = (serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "tls_key").write_bytes(key.private_bytes(pem, *plain))


def test_nginx_takes_its_configuration(tmp_path):
    _certificate(tmp_path)
    text = (DEPLOY / "nginx" / "befund.conf").read_text("utf-8")
    text = re.sub(r"server (api|webapp):", "server 127.0.0.1:", text).replace("/run/secrets", str(tmp_path))
    (tmp_path / "befund.conf").write_text(text.replace("/tmp/nginx", f"{tmp_path}/nginx"), "utf-8")
    command = [program(), "-t", "-p", str(tmp_path), "-c", "befund.conf"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


def test_nginx_keeps_the_lines_of_the_configurations_that_are_tested_under_load():
    shipped = (DEPLOY / "nginx" / "befund.conf").read_text("utf-8")
    for line in ("proxy_next_upstream error http_503 non_idempotent;", "proxy_next_upstream_tries 2;", "max_fails=0"):
        assert line in shipped
        assert line in (ROOT / "bentos" / "proxy.conf").read_text("utf-8")
    text_api = re.findall(r"location =? ?(/api/|/mcp|/openapi\.json) +\{", shipped)
    assert all(path.startswith(tuple(text_api)) for path in contract_paths())
    webapp = (ROOT / "webapp" / "proxy.conf").read_text("utf-8")
    for line in ("proxy_next_upstream error timeout;", "proxy_next_upstream_timeout 10s;", "max_fails=0"):
        assert line in shipped
        assert line in webapp
    once = r"location /accounts/vendor_oauth2/login/callback/ \{.*?\n        location @unsent \{.*?\n        \}"
    assert re.search(once, webapp, re.DOTALL)[0] == re.search(once, shipped, re.DOTALL)[0]
    webapps = re.findall(r"location (?:~ )?(\S+) \{", webapp)
    assert set(webapps) <= set(re.findall(r"location (?:~ )?(\S+) +\{", shipped))


@pytest.mark.parametrize("unit", sorted((DEPLOY / "systemd").glob("*.service")), ids=lambda path: path.stem)
def test_systemd_takes_its_units_and_finds_them_shut(unit, tmp_path):
    analyze = shutil.which("systemd-analyze")
    if not analyze:
        pytest.skip("systemd is not installed")
    text = re.sub(r"/opt/befund/\.venv(-vllm)?/bin/python", sys.executable, unit.read_text("utf-8"))
    copy = tmp_path / unit.name
    copy.write_text(text, "utf-8")
    done = subprocess.run([analyze, "verify", str(copy)], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    judge = [analyze, "security", "--offline=true", str(copy)]
    said = subprocess.run(judge, capture_output=True, text=True, timeout=60, check=False).stdout
    assert float(re.search(r"exposure level for \S+: ([\d.]+)", said)[1]) <= LOOSEST
    names = {
        name for line in re.findall(r"^Environment=(.*)", text, re.MULTILINE) for name in re.findall(r"\w+(?==)", line)
    }
    settings = {f"BEFUND_{field.upper()}" for field in Settings.model_fields}
    assert {name for name in names if name.startswith("BEFUND_")} <= settings
