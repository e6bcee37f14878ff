"""Looks at rivulet-ui-probe as assistive technology does: prints its tree, then performs actions of its rows.

Usage: accessible.py PROBE      (under dbus-run-session, with a display)
"""

import subprocess
import sys
import time
import warnings

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi  # noqa: E402

warnings.simplefilter("ignore")  # some names that every version has are called deprecated by this one

probe = subprocess.Popen(
    [sys.argv[1], "accessible"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
while (line := probe.stdout.readline()) and line != "ready\n":
    pass


def application():
    """The probe's root, which appears a moment after its window."""
    for _ in range(200):
        desktop = Atspi.get_desktop(0)
        for index in range(desktop.get_child_count()):
            child = desktop.get_child_at_index(index)
            if child and child.get_process_id() == probe.pid and child.get_child_count() > 0:
                return child
        time.sleep(0.05)
    sys.exit("the probe does not appear among the applications")


def actions(node):
    found = node.get_action_iface()
    return [found.get_action_name(n) for n in range(found.get_n_actions())] if found else []


rows = []


def show(node, depth):
    names = sorted(name for name in actions(node) if name.startswith("message."))
    text = "tree " + "  " * depth + node.get_role_name()
    if node.get_name():
        text += f" '{node.get_name()}'"
    if names:
        text += " [" + " ".join(name.removeprefix("message.") for name in names) + "]"
        rows.append(node)
    print(text)
    for index in range(node.get_child_count()):
        child = node.get_child_at_index(index)
        if child.get_role() != Atspi.Role.SCROLL_BAR:
            show(child, depth + 1)


show(application(), 0)
for row in rows:
    names = actions(row)
    wanted = "message.translate"
    if wanted in names:
        row.get_action_iface().do_action(names.index(wanted))
        print("asked", row.get_name())
        print(probe.stdout.readline(), end="")
probe.stdin.close()
for line in probe.stdout:
    print(line, end="")
sys.exit(probe.wait())
