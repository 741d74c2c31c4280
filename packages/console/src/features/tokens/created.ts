import type { Token } from "@fairway/wire";
import { createStore } from "../../lib/store.ts";

/** Tokens that were just created; their keys are shown until the dialog is closed. */
export const createdTokens = createStore<readonly Token[]>([]);
