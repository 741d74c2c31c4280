import { stored, type Recent } from "../../lib/storage.ts";
import { currentUser } from "../../session/session.ts";

const MOST = 5;

/** Returns where the user went from the palette, newest first, without the entries of other users of this browser. */
export function recents(): readonly Recent[] {
  const user = currentUser()?.id;
  return (stored.recents.read() ?? []).filter((entry) => entry.user === user).slice(0, MOST);
}

export function remember(entry: Omit<Recent, "user">): void {
  const user = currentUser()?.id;
  if (user === undefined) return;
  const others = (stored.recents.read() ?? []).filter(({ to, user: of }) => to !== entry.to && of === user);
  stored.recents.write([{ ...entry, user }, ...others].slice(0, MOST));
}
