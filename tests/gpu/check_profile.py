"""check_profile.py EXPORT.json KEY=VALUE...: compares what a profile of a run on a GPU says with
what the program did. launches: at least so many rows; timed: the share of launches with a device
time; kernels: names that must be there."""

import json
import sys


def main():
    with open(sys.argv[1]) as f:
        profile = json.load(f)
    wrong = []
    launches = profile["launches"]
    names = {launch["kernel"].split("(")[0] for launch in launches}
    timed = [launch["device_seconds"] for launch in launches if launch.get("device_seconds") is not None]
    if profile["collector"] != "inline":
        wrong.append(f"the collector is {profile['collector']}")
    for setting in sys.argv[2:]:
        key, value = setting.split("=", 1)
        if key == "launches" and len(launches) != int(value):
            wrong.append(f"{len(launches)} launches, not {value}")
        elif key == "seen" and profile["coverage"]["launches_seen"] != int(value):
            wrong.append(f"{profile['coverage']['launches_seen']} launches seen, not {value}")
        elif key == "objects" and len(profile["objects"]) < int(value):
            wrong.append(f"{len(profile['objects'])} objects, fewer than {value}")
        elif key == "timed" and len(timed) < float(value) * len(launches):
            wrong.append(f"{len(timed)} of {len(launches)} launches have a device time")
        elif key == "kernels" and not set(value.split(",")) <= names:
            wrong.append(f"kernels {sorted(names)}, not all of {value}")
    if any(not 0 < seconds < 10 for seconds in timed):
        wrong.append(f"device times from {min(timed)} to {max(timed)} s")
    for line in wrong:
        print(f"  {line}")
    if timed:
        print(f"  {len(launches)} launches, {sum(timed) * 1e3:.3f} ms on the device")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
