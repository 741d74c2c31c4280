import { stored } from "../lib/storage.ts";
import { createStore, useStore } from "../lib/store.ts";

export type ThemeMode = "light" | "dark";

const system = matchMedia("(prefers-color-scheme: dark)");
const paper = matchMedia("print");

function wanted(): ThemeMode {
  // A browser prints no backgrounds, and light text would be lost without them.
  if (paper.matches) return "light";
  return stored.themeMode.read() ?? (system.matches ? "dark" : "light");
}

const mode = createStore<ThemeMode>(wanted());

function apply(): void {
  const next = wanted();
  const root = document.documentElement;
  root.classList.remove("light", "dark");
  root.classList.add(next);
  root.style.colorScheme = next;
  mode.write(next);
}

/** If nothing is stored, the page follows the system, even while it is open. */
system.addEventListener("change", apply);
paper.addEventListener("change", apply);

/** Undefined follows the system. */
export function setThemeMode(next: ThemeMode | undefined): void {
  stored.themeMode.write(next);
  apply();
}

export function useThemeMode(): ThemeMode {
  return useStore(mode);
}
