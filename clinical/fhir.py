"""Formats of FHIR resources: the names of JSON and XML, and XML itself (FHIR R4, section 2.6.1).

JSON as dicts is the one form everything else here works with. The models of fhir.resources (R4B) tell of each element
its order, type and cardinality, from which XML is written and read. The models' own `model_dump_xml` is not used: it
takes 0.53 s for a page of 50 (here 0.008 s), writes `20:30.000000` as `20:30`, and its reader loses the `id` of
elements.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import zip_longest
from typing import Any

from lxml import etree

Resource = dict[str, Any]
MEDIA_TYPE, XML_TYPE, PATCH_TYPE = "application/fhir+json", "application/fhir+xml", "application/json-patch+json"
FORMATS = dict.fromkeys((MEDIA_TYPE, "application/json", "text/json", "json"), MEDIA_TYPE) | dict.fromkeys(
    (XML_TYPE, "application/xml", "text/xml", "xml"), XML_TYPE
)
"""Names of what is served, as `Accept`, `Content-Type` and `_format` have them (FHIR R4, section 3.1.0.1.11)."""
FHIR, XHTML = "http://hl7.org/fhir", "http://www.w3.org/1999/xhtml"
DEEPEST = 100  # levels; the JSON that comes of it is bounded again
_INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,17})")
_DECIMAL = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # XML 1.0 has no form for these
_INTEGERS = frozenset({"integer", "unsignedInt", "positiveInt"})


class NotXml(ValueError):
    """The body is no FHIR XML, or a resource cannot be written as XML; `element` is where."""

    def __init__(self, text: str, element: str = "") -> None:
        self.text, self.element = text, element
        super().__init__(text)


@dataclass(frozen=True, slots=True)
class Element:
    """An element of a type: its primitive type, or the model of its complex type, or neither for any resource."""

    many: bool
    primitive: str
    model: Any


def format_of(name: str) -> str | None:
    """The media type that a value of `_format` or a Content-Type means; a `+` of a query is a space there."""
    return FORMATS.get(name.partition(";")[0].strip().replace(" ", "+").lower())


def to_xml(resource: Resource) -> bytes:
    """UTF-8 XML of a valid resource; U+FFFD stands for characters that XML has no form for. Raises NotXml for members
    that FHIR does not know."""
    root = etree.Element(f"{{{FHIR}}}{resource['resourceType']}", nsmap={None: FHIR})
    try:
        _write(root, _model(resource["resourceType"]), resource)
    except (KeyError, ValueError, etree.LxmlError) as error:
        said = f"Diese Ressource lässt sich nicht als XML darstellen ({type(error).__name__}); als JSON geht es."
        raise NotXml(said, resource["resourceType"]) from None
    written: bytes = etree.tostring(root, encoding="UTF-8", xml_declaration=True)
    return written


def is_resource_type(name: Any) -> bool:
    """Return True for the name of a type of resources in FHIR R4."""
    model = _model(name) if isinstance(name, str) and name.isalpha() else None
    return model is not None and _is_resource(model)


def repeats(resource: Resource, way: Iterable[str | int]) -> bool:
    """Return True where a way of names, and numbers of items, leads from a resource to an element that is a list in
    FHIR R4. Raises LookupError where there is none."""
    value: Any = resource
    model, many = _model(resource["resourceType"]), False
    for step in way:
        if isinstance(step, str):
            element = _elements(model)[step]
            many, model, value = element.many, element.model, value.get(step) if isinstance(value, dict) else None
        else:
            many, value = False, value[step] if isinstance(value, list) and step < len(value) else None
        if model is None and isinstance(value, dict):
            model = _model(value.get("resourceType", ""))
    return many


def from_xml(body: bytes) -> Resource:
    """The resource as JSON has it, not yet validated. Raises NotXml."""
    # No entities, no DTD, no network; libxml2 bounds depth and length (10 MB a value) itself.
    parser = etree.XMLParser(
        resolve_entities=False, load_dtd=False, no_network=True, remove_comments=True, remove_pis=True
    )
    try:
        root = etree.fromstring(body, parser)
    except (etree.XMLSyntaxError, ValueError):
        raise NotXml("Der Inhalt ist kein XML.") from None
    if root.getroottree().docinfo.doctype:
        raise NotXml("Eine DTD gibt es in FHIR nicht.")
    return _resource(root, etree.QName(root).localname, 1)


def _write(parent: Any, model: Any, value: Mapping[str, Any]) -> None:
    known = _elements(model)
    unknown = [name for name in value if name not in known and name.removeprefix("_") not in known]
    if set(unknown) - {"resourceType", "fhir_comments"}:
        raise KeyError(unknown[0])
    for name, element in known.items():
        if name in _attributes(model):
            if name in value:
                parent.set(name, value[name])
            continue
        items, more = value.get(name), value.get("_" + name)
        if items is not None or more is not None:
            for item, beside in zip_longest(_listed(items), _listed(more)):
                _write_one(parent, name, element, item, beside)


def _write_one(parent: Any, name: str, element: Element, item: Any, beside: Mapping[str, Any] | None) -> None:
    if item is None and not beside:
        return
    if element.primitive == "xhtml" and item is not None:
        parent.append(_narrative(item))
        return
    child = etree.SubElement(parent, f"{{{FHIR}}}{name}")
    if element.primitive:
        if item is not None:
            child.set("value", ("false", "true")[item] if isinstance(item, bool) else _NO_XML.sub("\ufffd", str(item)))
        if beside:
            _write(child, _model("Element"), beside)
    elif element.model is None:
        kind = item["resourceType"]
        _write(etree.SubElement(child, f"{{{FHIR}}}{kind}"), _model(kind), item)
    else:
        _write(child, element.model, item)


def _narrative(text: str) -> Any:
    """The `div` as XHTML; as text where it is none, as old imports may have it."""
    parser = etree.XMLParser(resolve_entities=False, load_dtd=False, no_network=True)
    try:
        div = etree.fromstring(text.encode(), parser)
        if etree.QName(div).namespace == XHTML and not div.getroottree().docinfo.doctype:
            return div
    except etree.XMLSyntaxError:
        pass
    div = etree.Element(f"{{{XHTML}}}div", nsmap={None: XHTML})
    div.text = _NO_XML.sub("\ufffd", text)
    return div


def _resource(node: Any, at: str, depth: int) -> Resource:
    name = etree.QName(node)
    model = _model(name.localname) if name.namespace == FHIR else None
    if model is None or not _is_resource(model):
        raise NotXml(f"Erwartet wird eine Ressource im Namensraum {FHIR}.", at)
    return {"resourceType": name.localname} | _read(node, model, at, depth)


def _read(node: Any, model: Any, at: str, depth: int) -> dict[str, Any]:
    """The members of an element. Raises NotXml that names what is not known."""
    if depth > DEEPEST:
        raise NotXml(f"Tiefer verschachtelt als {DEEPEST} Ebenen.", at[:200])
    attributes = _attributes(model)
    if strange := [name for name in node.attrib if name not in attributes]:
        raise NotXml(f"Dieses Attribut gibt es hier nicht: {strange[0][:50]}.", at)
    _refuse_text(node, at)
    members: dict[str, Any] = dict(node.attrib)
    for child in node:
        name = etree.QName(child)
        where = f"{at}.{name.localname}"
        element = _elements(model).get(name.localname)
        if element is None or name.localname in attributes or name.namespace != _namespace(element):
            raise NotXml("Dieses Element gibt es in FHIR R4 hier nicht.", where)
        _add(members, name.localname, element, *_read_one(child, element, where, depth), where)
    return members


def _add(members: dict[str, Any], name: str, element: Element, item: Any, beside: Any, where: str) -> None:
    """An item, and the id and extensions of a primitive one, which keep its place (FHIR R4, section 2.6.2.3)."""
    if not element.many:
        if name in members or "_" + name in members:
            raise NotXml("Dieses Element gibt es nur einmal.", where)
        members |= {key: one for key, one in ((name, item), ("_" + name, beside)) if one is not None}
        return
    if beside is not None and "_" + name not in members:
        members["_" + name] = [None] * len(members.get(name, ()))
    members.setdefault(name, []).append(item)
    if "_" + name in members:
        members["_" + name].append(beside)


def _read_one(node: Any, element: Element, at: str, depth: int) -> tuple[Any, Any]:
    if element.primitive == "xhtml":
        node.tail = None
        return etree.tostring(node, encoding="unicode"), None
    if element.primitive:
        given = node.attrib.pop("value", None)
        return _value(given, element.primitive), _read(node, _model("Element"), at, depth + 1) or None
    if element.model is not None:
        return _read(node, element.model, at, depth + 1), None
    _refuse_text(node, at)
    if len(node) != 1 or node.attrib:
        raise NotXml("Erwartet wird genau eine Ressource.", at)
    return _resource(node[0], at, depth + 1), None


def _value(text: str | None, kind: str) -> Any:
    """As JSON has it; what is no value of its type stays text, which validation refuses by name."""
    if text is None:
        return None
    if kind == "boolean":
        return {"true": True, "false": False}.get(text, text)
    if kind in _INTEGERS and _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if kind == "decimal" and _DECIMAL.fullmatch(text) else text


def _refuse_text(node: Any, at: str) -> None:
    if any(text and not text.isspace() for text in (node.text, *(child.tail for child in node))):
        raise NotXml("Text steht in FHIR in Attributen.", at)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _namespace(element: Element) -> str:
    return XHTML if element.primitive == "xhtml" else FHIR


@cache
def _elements(model: Any) -> dict[str, Element]:
    """The elements of a type by their names, in their order."""
    from fhir_core.utils import (
        determine_version_prefix_from_class,
        get_fhir_type_name,
        is_list_type,
        is_primitive_type,
    )

    fields = {field.alias or name: field for name, field in model.model_fields.items()}
    version, found = determine_version_prefix_from_class(model), {}
    for name in model.elements_sequence():
        field, kind = fields[name], get_fhir_type_name(fields[name], version)
        primitive = is_primitive_type(field)
        complex_type = None if primitive or kind == "Resource" else _model(kind)
        found[name] = Element(is_list_type(field), kind if primitive else "", complex_type)
    return found


@cache
def _attributes(model: Any) -> frozenset[str]:
    """Names of the attributes in XML: the id of an element, which of a resource is an element, and an extension's
    URL."""
    if _is_resource(model):
        return frozenset()
    return frozenset({"id", "url"} if model.get_resource_type() == "Extension" else {"id"})


@cache
def _is_resource(model: Any) -> bool:
    from fhir.resources.R4B.resource import Resource as Base

    return isinstance(model, type) and issubclass(model, Base)


@cache
def _model(kind: str) -> Any:
    """The model of a type, None where there is none of that name."""
    from fhir.resources.R4B import get_fhir_model_class  # slow to import: 1 s

    try:
        return get_fhir_model_class(kind)
    except (KeyError, ValueError, LookupError, ImportError):
        return None
