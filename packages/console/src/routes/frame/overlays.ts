import { createStore } from "../../lib/store.ts";

/** Parts of the frame that are opened from several places. */
export const isPaletteOpen = createStore(false);
export const isSheetOpen = createStore(false);
