import {
  checkOption,
  isHiddenOption,
  isOptionKey,
  isSecretOption,
  messageText,
  parseOptions,
  type OptionDefaults,
  type OptionSetSpec,
} from "@fairway/wire";
import { parseObject } from "../../lib/text/json.ts";
import type { OptionStore, OptionWrite } from "../options/store.ts";
import { unusable } from "./read-document.ts";
import { variableName, type Fields, type Kind } from "./kinds.ts";

/** A document that pauses the comparison of documents could not end the pause. */
const PAUSE = "KubernetesPaused";
const PAUSE_REASON = `${PAUSE} cannot be set by a document, whose comparison it would end: use \`fairway kube gitops pause\``;

export interface OptionKindDeps {
  readonly options: OptionStore;
  readonly defaults: OptionDefaults;
  readonly writer: { readonly userId: number; readonly username: string; readonly ip: string };
}

/**
 * Creates the document kind of option sets, which have no row of their own. Their fields are the names of the options.
 */
export function optionKind({ options, defaults, writer }: OptionKindDeps): Kind<OptionSetSpec> {
  const checked = async (name: string, spec: OptionSetSpec): Promise<OptionWrite[]> => {
    const rows = Object.entries(toOptionTexts(spec)).map(([key, value]) => ({ key, value }));
    if (rows.some(({ key }) => key === PAUSE)) throw unusable(name, PAUSE_REASON);
    const after = parseOptions([...(await options.stored()), ...rows], { defaults });
    return rows.map(({ key, value }) => {
      const check = checkOption(key, value, after);
      if (check.isValid) return check;
      throw unusable(name, messageText(check.messageKey, check.values));
    });
  };
  const stored = async (): Promise<Map<string, string>> => {
    const shown = await options.visible();
    return new Map([...shown, ...(await options.stored())].map(({ key, value }) => [key, value]));
  };
  const reset = async (keys: readonly string[]): Promise<void> => {
    const writes = keys.filter(isOptionKey).map((key): OptionWrite => ({ key, text: undefined }));
    if (writes.length > 0) await options.write(writes, writer);
  };
  return {
    kind: "OptionSet",
    secrets: { has: isHiddenOption },
    async desired(name, spec) {
      return Object.fromEntries((await checked(name, spec)).map(({ key, text }) => [key, comparable(text ?? "")]));
    },
    async find(_name, spec) {
      const values = await stored();
      const keys = Object.keys(toOptionTexts(spec));
      return { id: 0, fields: Object.fromEntries(keys.map((key) => [key, comparable(values.get(key) ?? "")])) };
    },
    refusal: () => "",
    lacks: () => "",
    create: () => Promise.resolve(0),
    async update(_current, spec, changed) {
      const writes = (await checked("", spec)).filter(({ key }) => changed.includes(key));
      if (writes.length > 0) await options.write(writes, writer);
    },
    // Values that the set has written stay, unless it says otherwise; it only stops owning them.
    remove: async ({ fields, prune }) => (prune === true ? reset(fields) : undefined),
    reset,
    async export() {
      const rows = (await options.stored()).filter(({ key }) => !isSecret(key) && key !== PAUSE);
      const values: Record<string, string> = {};
      const json: Record<string, unknown> = {};
      for (const { key, value } of rows) {
        const object = parseObject(value);
        if (object) json[key] = object;
        else values[key] = value;
      }
      const secrets = (await options.filledSecrets()).filter(isSecret);
      const valuesFrom = secrets.map((option) => ({ option, env: variableName("option", option) }));
      const spec = { values, json, ...(valuesFrom.length > 0 && { valuesFrom }) };
      return rows.length + secrets.length === 0 ? [] : [{ name: "options", spec }];
    },
  };
}

/**
 * Returns true for secret options. The public key of Turnstile is hidden by its name in some responses, but is not
 * secret.
 */
function isSecret(key: string): boolean {
  return isOptionKey(key) ? isSecretOption(key) : isHiddenOption(key);
}

function toOptionTexts({ values = {}, json = {} }: OptionSetSpec): Record<string, string> {
  const texts = Object.entries(json).map(([key, value]) => [key, JSON.stringify(value)]);
  return { ...values, ...(Object.fromEntries(texts) as Record<string, string>) };
}

/** Parses JSON, so that it is compared by its content, not by its text. */
function comparable(text: string): Fields[string] {
  return parseObject(text) ?? text;
}
