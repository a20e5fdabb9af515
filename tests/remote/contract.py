#!/usr/bin/env python3
"""The contract of the storage interface (tests/contract) over each server. usage: contract.py [STORE]..."""
import os, re, subprocess, sys
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lib_remote as remote


def main():
    failed = False
    for store in sys.argv[1:] or ["s3", "s3_weed", "azure", "gcs", "hdfs"]:
        try: s = remote.server(store)
        except remote.Missing as e:
            print("skip contract/%s: %s" % (store, e))
            continue
        for name in ("contract_store", "contract_store_scale"):
            done = subprocess.run([remote.program(name)], env=dict(os.environ, SILT_CONTRACT_STORE=store, CMOCKA_MESSAGE_OUTPUT="TAP", **s.told), text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            print(re.sub(r"^1\.\.\d+\n", "", done.stdout, flags=re.M), flush=True)
            failed |= done.returncode != 0
            if done.returncode < 0: print("not ok %s/%s: ended by signal %d" % (store, name, -done.returncode))
    sys.exit(1 if failed else 0)


if __name__ == "__main__": main()
