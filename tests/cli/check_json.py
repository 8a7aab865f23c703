#!/usr/bin/env python3
"""check_json.py SCHEMA REPORT: prints "valid", or the first complaint, by the jsonschema package."""
import json
import sys

import jsonschema

with open(sys.argv[1]) as file:
    schema = json.load(file)
with open(sys.argv[2]) as file:
    report = json.load(file)
jsonschema.Draft7Validator.check_schema(schema)
errors = sorted(jsonschema.Draft7Validator(schema).iter_errors(report), key=lambda e: list(e.path))
print(f"{'/'.join(map(str, errors[0].path))}: {errors[0].message}" if errors else "valid")
sys.exit(1 if errors else 0)
