"""Croissant 1.1 metadata with the fields for responsible AI: what machines read about a dataset."""

from __future__ import annotations

from typing import Any

from benchsite.version import VERSION
from ranking.dataset.about import LICENCES, About
from ranking.dataset.columns import TYPES, Table
from ranking.dataset.facts import Facts
from ranking.dataset.files import Written, data_file

CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "arrayShape": "cr:arrayShape",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "containedIn": "cr:containedIn",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isArray": "cr:isArray",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
CONFORMS = ["http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0"]


def croissant(about: About, facts: Facts, tables: list[Table], written: dict[str, Written]) -> dict[str, Any]:
    files = [(table, split) for table in tables for split, _ in table.splits]
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS,
        "name": facts.name,
        "alternateName": facts.title,
        "description": facts.description,
        "license": LICENCES[about.licence].url,
        "url": about.url or f"urn:benchsite:run:{facts.code}",
        "version": about.version,
        "datePublished": about.on.isoformat(),
        "creator": [{"@type": "sc:Organization", "name": name} for name in about.authors],
        "publisher": [{"@type": "sc:Organization", "name": name} for name in about.authors],
        "citeAs": facts.bibtex,
        "keywords": facts.keywords,
        "inLanguage": ["en"],
        "isLiveDataset": False,
        **responsible(about, facts),
        "distribution": [_file(table, split, written) for table, split in files],
        "recordSet": [_records(table, split, says) for table in tables for split, says in table.splits],
    }


def responsible(about: About, facts: Facts) -> dict[str, Any]:
    """The RAI vocabulary, in sentences that the run's own facts fill."""
    return {
        "rai:dataCollection": facts.collection,
        "rai:dataCollectionType": ["Software Collection", "Experiments"],
        "rai:dataCollectionTimeframe": facts.timeframe,
        "rai:dataCollectionMissingData": facts.missing,
        "rai:dataPreprocessingProtocol": [
            "A drawing is what the format's reader finds in a model's answer; the whole answer is published beside it."
        ],
        "rai:dataAnnotationProtocol": facts.methods,
        "rai:dataAnnotationPlatform": [f"Benchsite {VERSION}"],
        "rai:dataAnnotationAnalysis": [facts.methods],
        "rai:annotatorDemographics": [facts.judges],
        "rai:machineAnnotationTools": facts.machines,
        "rai:personalSensitiveInformation": [facts.privacy, f"Consent: {about.consent}"],
        "rai:dataBiases": facts.biases,
        "rai:dataUseCases": [
            "Ranking models that draw as text, training on preferences, and research into how people judge drawings."
        ],
        "rai:dataLimitations": facts.limitations,
        "rai:dataSocialImpact": "A ranking may steer which models are used; its intervals are part of it.",
        "rai:dataReleaseMaintenancePlan": f"This is version {about.version}. A corrected release has a higher version.",
    }


def _file(table: Table, split: str, written: dict[str, Written]) -> dict[str, Any]:
    name = data_file(table.name, split)
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "description": f"{table.says}: {dict(table.splits)[split]}",
        "contentUrl": name,
        "contentSize": f"{written[name].size} B",
        "encodingFormat": "application/x-parquet",
        "sha256": written[name].digest,
    }


def _records(table: Table, split: str, says: str) -> dict[str, Any]:
    name = table.name if split == table.splits[0][0] else f"{table.name}_{split}"
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "description": f"{table.says}: {says}",
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{name}/{column.name}",
                "name": column.name,
                "description": column.says,
                "dataType": TYPES[column.type][1],
                "source": {"fileObject": {"@id": data_file(table.name, split)}, "extract": {"column": column.name}},
            }
            for column in table.columns
        ],
    }
