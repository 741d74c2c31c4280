import { stored } from "./storage.ts";
import { createStore, useStore } from "./store.ts";

export const LANGUAGES = { en: "English", zh: "中文" } as const;
export type Language = keyof typeof LANGUAGES;

/** Names in `{name}` and `{name:one|many}`. */
type Places<S extends string> = S extends `${string}{${infer Place}}${infer Rest}`
  ? TextName<Place> | Places<Rest>
  : never;
type TextName<Place extends string> = Place extends `${infer Name}:${string}` ? Name : Place;
type Values<S extends string> = [Places<S>] extends [never] ? [] : [values: Record<Places<S>, string | number>];

type Texts = Readonly<Record<string, string>>;
/** Another language of the same texts: the same keys, and any placeholder of the source may be used. */
export type Translation<E extends Texts> = { readonly [K in keyof E]: string };
export type Translate<E extends Texts> = <K extends keyof E & string>(key: K, ...values: Values<E[K]>) => string;

interface Namespace {
  load(): Promise<Texts>;
  translated: Texts | undefined;
}

const namespaces = new Set<Namespace>();
const language = createStore<Language>(stored.language.read() ?? (navigator.language.startsWith("zh") ? "zh" : "en"));

async function loadAll(): Promise<void> {
  const missing = [...namespaces].filter((space) => space.translated === undefined);
  await Promise.all(missing.map(async (space) => (space.translated = await space.load())));
}

/** Registers a loader for what another language needs besides the texts of features; both load together. */
export function onLanguage(load: () => Promise<void>): void {
  const space: Namespace = {
    async load() {
      await load();
      return {};
    },
    translated: undefined,
  };
  namespaces.add(space);
}

/**
 * Resolves when every text of the chosen language is loaded; routes wait for it, so that no page changes language while
 * it is read.
 */
export async function textsReady(): Promise<void> {
  if (language.read() !== "en") await loadAll();
  document.documentElement.lang = language.read();
}

export async function setLanguage(next: Language): Promise<void> {
  if (next !== "en") await loadAll();
  stored.language.write(next);
  document.documentElement.lang = next;
  language.write(next);
}

export function currentLanguage(): Language {
  return language.read();
}

export function useLanguage(): Language {
  return useStore(language);
}

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

/** Isolates a name that is written from right to left, so that the punctuation around it stays in place. */
function isolated(value: string | number | undefined, place: string): string {
  const text = String(value ?? place);
  return RIGHT_TO_LEFT.test(text) ? `\u2068${text}\u2069` : text;
}

/** `{count}` is the value itself, `{count:row is|rows are}` the words for one and for any other number. */
const PLACE = /\{(\w+)(?::([^|{}]*)\|([^|{}]*))?\}/g;

function pick(
  source: Texts,
  translated: Texts | undefined,
  key: string,
  values: Record<string, string | number> | undefined,
): string {
  const text = translated?.[key] ?? source[key] ?? key;
  return text.replace(PLACE, (place, name: string, one: string | undefined, many: string | undefined) => {
    if (one === undefined) return isolated(values?.[name], place);
    return (Number(values?.[name]) === 1 ? one : many) ?? "";
  });
}

/**
 * Declares the texts of a feature: English is in its chunk, the other language loads on demand. Returns a hook for
 * components and `say` for code outside them.
 */
export function defineTexts<const E extends Texts>(source: E, load: () => Promise<Translation<E>>) {
  const space: Namespace = { load, translated: undefined };
  namespaces.add(space);
  // One function per language, so that memoised values such as table columns change with the language.
  const speakers: Record<Language, Translate<E>> = {
    en: (key, ...values) => pick(source, undefined, key, values[0]),
    zh: (key, ...values) => pick(source, space.translated, key, values[0]),
  };
  const say: Translate<E> = (key, ...values) => speakers[language.read()](key, ...values);
  const useTexts = (): Translate<E> => speakers[useLanguage()];
  return { useTexts, say };
}
