#!/usr/bin/env python3
"""The contract of the storage interface (tests/contract) over each server. usage: contract.py [STORE]..."""
import concurrent.futures, os, re, subprocess, sys
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lib_remote as remote

NAMES = ("contract_store", "contract_store_scale")


def contract(store, told, name):
    return subprocess.run([remote.program(name)], env=dict(os.environ, SILT_CONTRACT_STORE=store, CMOCKA_MESSAGE_OUTPUT="TAP", **told), text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)


def main():
    failed, servers = False, {}
    for store in sys.argv[1:] or ["s3", "s3_weed", "azure", "gcs", "hdfs"]:
        try: servers[store] = remote.server(store)
        except remote.Missing as e: print("skip contract/%s: %s" % (store, e))
    with concurrent.futures.ThreadPoolExecutor(3) as pool:  # each waits for its server for most of the time
        running = [(store, name, pool.submit(contract, store, s.told, name)) for name in NAMES[::-1] for store, s in servers.items()]
        for store, name, ended in running:
            done = ended.result()
            print(re.sub(r"^1\.\.\d+\n", "", done.stdout, flags=re.M), flush=True)
            failed |= done.returncode != 0
            if done.returncode < 0: print("not ok %s/%s: ended by signal %d" % (store, name, -done.returncode))
    sys.exit(1 if failed else 0)


if __name__ == "__main__": main()
