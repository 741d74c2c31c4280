import { ROLE, selfSignedIn } from "@fairway/wire";
import type { Query } from "@tanstack/react-query";
import { call, rememberUser } from "../lib/http.ts";
import { queryKeys } from "../lib/query-keys.ts";
import { queryClient } from "../lib/query.ts";
import { stored, type StoredUser } from "../lib/storage.ts";
import { createStore, useStore } from "../lib/store.ts";

const user = createStore<StoredUser | undefined>(stored.user.read());
rememberUser(() => user.read()?.id);
/** The user whose data is loaded; stays when the session ends. */
let owner = user.read()?.id;

/** Adopts the user that another tab signed in, and drops all data of another user. False if it signed out. */
export function followOtherTab(): boolean {
  const next = stored.user.read();
  if (next === undefined) return false;
  isOver = false;
  const isOther = next.id !== owner;
  owner = next.id;
  if (isOther) void queryClient.resetQueries({ predicate: isUserQuery });
  user.write(next);
  return true;
}

/** The status is the same for every user, and nothing renders without it. */
function isUserQuery(query: Query): boolean {
  return query.queryKey[0] !== queryKeys.status[0];
}

export function currentUser(): StoredUser | undefined {
  return user.read();
}

let asked: Promise<void> | undefined;

/**
 * Adopts the user of the session cookie if the browser stored none: its storage is denied, full or was emptied. Runs
 * once, so that a user who signed out stays signed out.
 */
export function recoverUser(): Promise<void> {
  asked ??= recover();
  return asked;
}

async function recover(): Promise<void> {
  if (currentUser()) return;
  try {
    const found = await call(selfSignedIn, {});
    if (!found || currentUser()) return;
    owner = found.id;
    stored.user.write(found);
    user.write(found);
  } catch {
    // An unreachable server is reported elsewhere, and the call is repeated.
    asked = undefined;
  }
}

export function useUser(): StoredUser | undefined {
  return useStore(user);
}

export function getRole(who: StoredUser | undefined): number {
  return who?.role ?? ROLE.guest;
}

export function isAdmin(who: StoredUser | undefined): boolean {
  return getRole(who) >= ROLE.admin;
}

/** Returns true after a session has expired and before the sign-in page forgets it. */
export function isSessionOver(): boolean {
  return isOver;
}

let isOver = false;

export function setUser(next: StoredUser): void {
  isOver = false;
  if (next.id !== user.read()?.id) queryClient.clear();
  owner = next.id;
  stored.user.write(next);
  user.write(next);
}

/** The session expired: loaded data stays for the form that is being filled in. */
export function endSession(): void {
  isOver = true;
  clearUser();
}

function clearUser(): void {
  stored.user.write(undefined);
  user.write(undefined);
}

/** Forgets the user in this browser, with all data that was loaded for them. */
export function forgetUser(): void {
  isOver = false;
  clearUser();
  queryClient.removeQueries({ predicate: isUserQuery });
}

/** Set after signing in with the default password of new installations; the frame then shows a warning. */
export const hasDefaultPassword = createStore(false);
