import { useCallback, useMemo } from "react";
import { useSearchParams } from "react-router";

type Shape = Readonly<Record<string, string>>;

/**
 * Manages the part of the query string that a page owns: names with their defaults. A value equal to its default is
 * left out of the address, so that links are short; other members of the query stay.
 */
export function useUrlState<S extends Shape>(
  defaults: S,
): [Record<keyof S, string>, (change: Partial<Record<keyof S, string>>) => void] {
  const [search, setSearch] = useSearchParams();
  const values = useMemo(() => readState(search, defaults), [search, defaults]);
  const change = useCallback(
    (wanted: Partial<Record<keyof S, string>>) => {
      setSearch(changeAddress(defaults, wanted), { replace: true, preventScrollReset: true });
    },
    [setSearch, defaults],
  );
  return [values, change];
}

export function readState<S extends Shape>(search: URLSearchParams, defaults: S): Record<keyof S, string> {
  const entries = Object.entries(defaults).map(([name, value]) => [name, search.get(name) ?? value]);
  return Object.fromEntries(entries) as Record<keyof S, string>;
}

/** Starts from the address itself, because several changes may happen before the page renders the first. */
export function changeAddress<S extends Shape>(defaults: S, change: Partial<Record<keyof S, string>>): URLSearchParams {
  return writeState(new URLSearchParams(location.search), defaults, change);
}

export function writeState<S extends Shape>(
  search: URLSearchParams,
  defaults: S,
  change: Partial<Record<keyof S, string>>,
): URLSearchParams {
  const next = new URLSearchParams(search);
  for (const [name, value] of Object.entries(change)) {
    if (value === undefined || value === "" || value === defaults[name]) next.delete(name);
    else next.set(name, value);
  }
  return next;
}

/** Reads a page number from the address; bad values mean the first page. */
export function parsePage(text: string): number {
  const page = Number(text);
  return Number.isInteger(page) && page > 0 ? page : 1;
}

/** Returns a path of this console to open after signing in; anything else is replaced by the fallback. */
export function safeReturnPath(text: string | null, fallback: string): string {
  if (text === null || !text.startsWith("/") || !URL.canParse(text, NOWHERE)) return fallback;
  // Parses it like a browser, which drops tabs and resolves "..".
  const { origin, pathname, search, hash } = new URL(text, NOWHERE);
  return origin === NOWHERE && !pathname.startsWith("//") ? `${pathname}${search}${hash}` : fallback;
}

const NOWHERE = "https://console.invalid";
