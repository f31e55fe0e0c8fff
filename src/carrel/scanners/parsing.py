"""Recognizes the format of a scanner's output."""

import orjson

from carrel.scanners import cyclonedx, grype, trivy
from carrel.scanners.reports import ReportError, ScannerReport


def parse(raw: bytes) -> ScannerReport:
    """The report in CycloneDX JSON, Trivy JSON or Grype JSON. Raises: ReportError."""
    try:
        document = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise ReportError(f"The output is not JSON: {error}.") from None
    if not isinstance(document, dict):
        raise ReportError("The output is JSON, but no report.")
    if document.get("bomFormat") == "CycloneDX":
        return cyclonedx.read(document, raw)
    if "SchemaVersion" in document and "ArtifactName" in document:
        return trivy.read(document)
    if "matches" in document and "descriptor" in document:
        return grype.read(document)
    raise ReportError("The output is neither CycloneDX nor the JSON of Trivy or Grype.")
