"""Reads an export from standard input by modules that are not planrun's, and prints what it saw as JSON.

csv: rows as dictionaries. junit: suites with their tests. openmetrics: families with their samples, by the reference parser.
"""
import csv
import io
import json
import sys
import xml.etree.ElementTree as xml


def read_csv(text):
    return list(csv.DictReader(io.StringIO(text, newline=""), strict=True))


def read_junit(text):
    root = xml.fromstring(text)
    assert root.tag == "testsuites", root.tag
    suites = []
    for s in root:
        assert s.tag == "testsuite", s.tag
        tests = []
        for c in s.findall("testcase"):
            results = [e for e in c if e.tag in ("failure", "error", "skipped")]
            assert len(results) <= 1, results
            result = results[0] if results else None
            out = c.find("system-out")
            tests.append({
                "name": c.attrib["name"], "class": c.attrib["classname"], "time": float(c.attrib["time"]),
                "result": "passed" if result is None else result.tag,
                "message": "" if result is None else result.attrib["message"],
                "text": (out.text if out is not None else result.text) or "",
            })
        suites.append({
            "name": s.attrib["name"], "time": float(s.attrib["time"]), "timestamp": s.attrib["timestamp"], "hostname": s.attrib["hostname"],
            "counts": [int(s.attrib.get(k, 0)) for k in ("tests", "failures", "errors", "skipped")],
            "properties": {p.attrib["name"]: p.attrib["value"] for p in s.iter("property")},
            "tests": tests,
        })
    return {"name": root.attrib["name"], "counts": [int(root.attrib.get(k, 0)) for k in ("tests", "failures", "errors", "skipped")], "suites": suites}


def read_openmetrics(text):
    from prometheus_client.openmetrics.parser import text_string_to_metric_families
    return [
        {"name": f.name, "type": f.type, "unit": f.unit, "help": f.documentation,
         "samples": [{"name": s.name, "labels": s.labels, "value": s.value} for s in f.samples]}
        for f in text_string_to_metric_families(text)
    ]


text = sys.stdin.buffer.read().decode("utf-8")  # strict: no byte is guessed
json.dump({"csv": read_csv, "junit": read_junit, "openmetrics": read_openmetrics}[sys.argv[1]](text), sys.stdout)
