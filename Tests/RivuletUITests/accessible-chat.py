"""Looks at the demonstration as assistive technology does: the conversations with their actions, one of which it performs.

Usage: accessible-chat.py CHAT      (under dbus-run-session, with a display)
"""

import subprocess
import sys
import time
import warnings

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi  # noqa: E402

warnings.simplefilter("ignore")  # some names that every version has are called deprecated by this one

chat = subprocess.Popen([sys.argv[1], "--demo", "--strict", "--theme", "light", "--size", "900x600"])


def application():
    for index in range(Atspi.get_desktop(0).get_child_count()):
        child = Atspi.get_desktop(0).get_child_at_index(index)
        if child and child.get_process_id() == chat.pid and child.get_child_count() > 0:
            return child
    return None


def find(node, wanted):
    """The first node for which something is true, in the order of the tree."""
    if node is None:
        return None
    if wanted(node):
        return node
    for index in range(node.get_child_count()):
        found = find(node.get_child_at_index(index), wanted)
        if found:
            return found
    return None


def wait(wanted):
    for _ in range(400):
        found = find(application(), wanted)
        if found:
            return found
        time.sleep(0.05)
    chat.terminate()
    sys.exit("what was waited for never came")


def is_row(begin, part=""):
    return lambda node: (
        node.get_role() == Atspi.Role.LIST_ITEM and node.get_name().startswith(begin)
        and part in node.get_name())


def actions(node):
    found = node.get_action_iface()
    return [found.get_action_name(n) for n in range(found.get_n_actions())] if found else []


def show(node):
    names = sorted(name for name in actions(node) if name.startswith("conversation."))
    print("row", node.get_name().split(", ")[0], " ".join(names))


for name in ("周末爬山", "Live room", "云朵客服"):
    show(wait(is_row(name)))
for name in ("Main menu", "New conversation", "Find in this conversation", "Conversation menu"):
    print("button", wait(lambda node: node.get_name() == name and node.get_role() == Atspi.Role.PUSH_BUTTON).get_name())
header = wait(lambda node: node.get_name().startswith("周末爬山, 6 members"))
print("header", header.get_name())
row = wait(is_row("云朵客服", "1 unread"))
row.get_action_iface().do_action(actions(row).index("conversation.mute"))
muted = wait(is_row("云朵客服", "1 unread, muted"))
print("muted", "conversation.unmute" in actions(muted))
muted.get_action_iface().do_action(actions(muted).index("conversation.read"))
print("read", "unread" not in wait(lambda node: is_row("云朵客服", "muted")(node)
                                   and "unread" not in node.get_name()).get_name())
chat.terminate()
sys.exit(chat.wait())
