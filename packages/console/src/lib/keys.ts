import { useHotkeys } from "react-hotkeys-hook";
import { stored } from "./storage.ts";
import { createStore, useStore } from "./store.ts";

const singleKeys = createStore(stored.shortcuts.read() !== "off");

/** Returns whether keys without a modifier are shortcuts: speech input and some keyboards press them by accident. */
export function useSingleKeys(): boolean {
  return useStore(singleKeys);
}

export function setSingleKeys(isOn: boolean): void {
  stored.shortcuts.write(isOn ? undefined : "off");
  singleKeys.write(isOn);
}

/**
 * Registers a keyboard shortcut: `mod+k`, `?`, or a sequence such as `g>t`. Keys without a modifier are ignored inside
 * inputs and can be switched off.
 */
export function useKeys(keys: string, act: () => void, isOn = true, isForInputs = keys.includes("mod+")): void {
  const isSingle = !keys.includes("mod+");
  const hasSingleKeys = useSingleKeys();
  useHotkeys(
    keys,
    (event) => {
      event.preventDefault();
      act();
    },
    {
      enabled: isOn && (hasSingleKeys || !isSingle),
      enableOnFormTags: isForInputs,
      useKey: true,
      sequenceTimeoutMs: 1_200,
    },
    [act],
  );
}

const isApple = /Mac|iPhone|iPad/.test(navigator.userAgent);

/** Formats a shortcut for display: `Ctrl K`, `G T`. */
export function printKeys(keys: string): string {
  return keys
    .replace("mod+", isApple ? "⌘ " : "Ctrl ")
    .replace(">", " ")
    .replace(/\b[a-z]\b/g, (letter) => letter.toUpperCase());
}
