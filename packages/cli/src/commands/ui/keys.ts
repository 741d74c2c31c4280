import type { Key } from "ink";

/** Returns the keys of one read of the terminal: keys that are held or typed fast arrive together. */
export function keysIn(input: string, key: Partial<Key>): string[] {
  const name = findKeyName(input, key);
  return name === undefined ? Array.from(input.replaceAll("\r\n", "\r"), (one) => CONTROLS[one] ?? one) : [name];
}

const CONTROLS: Readonly<Record<string, string>> = {
  "\r": "enter",
  "\n": "enter",
  "\t": "tab",
  "\u0005": "ctrl-e",
  "\u0015": "ctrl-u",
  "\b": "backspace",
  "\u007F": "backspace",
  "\u001B": "escape",
};

function findKeyName(input: string, key: Partial<Key>): string | undefined {
  if (key.tab) return key.shift ? "backtab" : "tab";
  const named = NAMES.find(([member]) => key[member]);
  if (named) return named[1];
  return key.ctrl && /^[a-z]$/.test(input) ? `ctrl-${input}` : undefined;
}

const NAMES: readonly (readonly [keyof Key, string])[] = [
  ["return", "enter"],
  ["escape", "escape"],
  ["backspace", "backspace"],
  ["delete", "backspace"],
  ["upArrow", "up"],
  ["downArrow", "down"],
  ["pageUp", "pageup"],
  ["pageDown", "pagedown"],
];
