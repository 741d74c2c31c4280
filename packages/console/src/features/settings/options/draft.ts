import { isSecretOption, messageText, OPTIONS, type MessageKey, type OptionKey, type Status } from "@fairway/wire";

export type OptionTexts = Readonly<Partial<Record<string, string>>>;

/** Returns the stored options with the public site key, which the list omits because its name looks like a secret. */
export function withPublicTexts(listed: OptionTexts, status: Pick<Status, "turnstile_site_key">): OptionTexts {
  return { ...listed, TurnstileSiteKey: status.turnstile_site_key };
}

/** Edited values; for a secret, "" clears it. */
export type Draft = Readonly<Partial<Record<OptionKey, string>>>;

/** A secret whose input is cleared stays unchanged: it was never shown, so clearing the input means nothing. */
export function typed(draft: Draft, key: OptionKey, text: string): Draft {
  if (text !== "" || !isSecretOption(key)) return { ...draft, [key]: text };
  const { [key]: _dropped, ...rest } = draft;
  return rest;
}

/** Returns the edits of a draft that differ from the stored values. */
export function collectChanges(draft: Draft, stored: OptionTexts): Draft {
  const changed = Object.entries(draft).filter(
    ([key, text]) => isSecretOption(key as OptionKey) || text !== (stored[key] ?? ""),
  );
  return Object.fromEntries(changed) as Draft;
}

export function ofKeys(draft: Draft, keys: readonly OptionKey[]): Draft {
  return Object.fromEntries(Object.entries(draft).filter(([key]) => keys.includes(key as OptionKey)));
}

export function withoutKeys(draft: Draft, keys: readonly OptionKey[]): Draft {
  return Object.fromEntries(Object.entries(draft).filter(([key]) => !keys.includes(key as OptionKey)));
}

/** Removes saved edits from a draft; later edits stay. */
export function withoutSaved(draft: Draft, saved: Draft): Draft {
  return Object.fromEntries(Object.entries(draft).filter(([key, text]) => saved[key as OptionKey] !== text));
}

/** Why a text is refused: a rule that the value breaks, or a message of the server. */
type Fault = { readonly rule: string } | { readonly key: MessageKey; readonly message: string };

export function findFault(key: OptionKey, text: string): Fault | undefined {
  const reading = OPTIONS[key].type.read(text);
  if (reading.isValid) return undefined;
  if (reading.rule !== undefined) return { rule: reading.rule };
  return { key: reading.messageKey, message: messageText(reading.messageKey, { name: reading.name ?? "" }) };
}
