import type { Key } from "ink";

/** The keys of one read of the terminal: those that are pasted, held or typed fast arrive together. */
export function keysIn(input: string, key: Partial<Key>): string[] {
  const name = nameOf(key);
  return name === undefined ? Array.from(input.replaceAll("\r\n", "\r"), (one) => CONTROLS[one] ?? one) : [name];
}

const CONTROLS: Readonly<Record<string, string>> = {
  "\r": "enter",
  "\n": "enter",
  "\b": "backspace",
  "\u007F": "backspace",
  "\u001B": "escape",
};

function nameOf(key: Partial<Key>): string | undefined {
  if (key.return) return "enter";
  if (key.escape) return "escape";
  if (key.backspace || key.delete) return "backspace";
  if (key.upArrow) return "up";
  if (key.downArrow) return "down";
  if (key.pageUp) return "pageup";
  return key.pageDown ? "pagedown" : undefined;
}
