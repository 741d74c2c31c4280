import type { ChannelKey } from "@fairway/wire";
import { HttpProblem } from "../../../lib/problems.ts";
import { ask } from "../../../ui/feedback/ask.ts";
import { removeKey } from "../form-api.ts";
import { keyName } from "../key-name.ts";
import type { useTexts } from "./texts.ts";

/** Returns true if the server refused because files or batches need the key. */
export function isKeyInUse(problem: unknown): problem is HttpProblem {
  return problem instanceof HttpProblem && problem.key === "channel_key_in_use";
}

/** Asks, then removes a key; returns whether it was removed. */
export async function removeKeyAsking(id: number, key: ChannelKey, t: ReturnType<typeof useTexts>): Promise<boolean> {
  const name = keyName(key);
  const isConfirmed = await ask({
    title: t("removeKeyTitle", { name }),
    body: t("removeKeyBody"),
    confirm: t("removeKey"),
    isDangerous: true,
  });
  if (!isConfirmed) return false;
  try {
    await removeKey(id, key);
    return true;
  } catch (problem) {
    if (!isKeyInUse(problem)) throw problem;
    return removeAnyway(id, key, { t, reason: problem.message });
  }
}

interface Asking {
  readonly t: ReturnType<typeof useTexts>;
  readonly reason: string;
}

/** Asks whether a key is removed although files or batches need it. */
export async function removeAnyway(id: number, key: ChannelKey, { t, reason }: Asking): Promise<boolean> {
  const isForced = await ask({
    title: t("keyInUse"),
    body: reason,
    confirm: t("keyRemoveAnyway"),
    cancel: t("keyWait"),
    isDangerous: true,
  });
  if (isForced) await removeKey(id, key, true);
  return isForced;
}
