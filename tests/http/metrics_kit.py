"""Reading a scrape in tests. Counters are those of the whole process, so tests look at what was added."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from prometheus_client.parser import text_string_to_metric_families


@dataclass(frozen=True)
class Scraped:
    """types: of each family by its name. labels: the names of labels of each sample's name."""

    samples: Mapping[tuple[str, frozenset[tuple[str, str]]], float]
    types: Mapping[str, str]
    labels: dict[str, set[str]] = field(default_factory=dict)

    def value(self, name: str, **labels: str) -> float:
        """One sample, or 0 where there is none."""
        return self.samples.get((name, frozenset(labels.items())), 0.0)

    def total(self, name: str, **labels: str) -> float:
        """The sum of all samples with at least these labels."""
        return sum(
            value
            for (each, sample_labels), value in self.samples.items()
            if each == name and labels.items() <= sample_labels
        )


def parsed(text: str) -> Scraped:
    """A scrape in the text format. Fails when a sample comes twice, which Prometheus would refuse."""
    samples: dict[tuple[str, frozenset[tuple[str, str]]], float] = {}
    types: dict[str, str] = {}
    labels: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(text):
        assert family.name not in types, family.name
        types[family.name] = family.type
        for sample in family.samples:
            key = sample.name, frozenset(sample.labels.items())
            assert key not in samples, key
            samples[key] = sample.value
            labels.setdefault(sample.name, set()).update(sample.labels)
    return Scraped(samples, types, labels)
