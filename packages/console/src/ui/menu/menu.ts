import type { ReactNode } from "react";
import { createStore } from "../../lib/store.ts";
import type { IconName } from "../display/icon.tsx";

export interface MenuEntry {
  readonly id: string;
  readonly label: string;
  readonly icon?: IconName;
  readonly isDangerous?: boolean;
  run(): void;
}

export interface OpenMenu {
  /** The button that the menu belongs to. */
  readonly anchor: HTMLElement;
  readonly label: string;
  /** `undefined` draws a line. */
  readonly entries: readonly (MenuEntry | undefined)[];
  readonly heading?: ReactNode;
}

/** The open menu: one for the whole console, so that a hundred rows need a hundred buttons but no menus. */
export const menu = createStore<OpenMenu | undefined>(undefined);
