import { ROLE } from "@fairway/wire";

interface Actor {
  readonly userId: number;
  readonly role: number;
}

interface Target {
  readonly id: number;
  readonly role: number;
}

/** Administrators see regular users and themselves, the super administrator sees everyone. */
export function canView(actor: Actor, target: Target): boolean {
  return actor.role === ROLE.root || target.role < actor.role || target.id === actor.userId;
}

/** Administrators change regular users only, the super administrator changes everyone. */
export function canChange(actor: Actor, target: Target): boolean {
  return actor.role === ROLE.root || target.role < actor.role;
}

/** No user can delete a user of the same role, so the super administrator cannot be deleted. */
export function canDelete(actor: Actor, target: Target): boolean {
  return target.role < actor.role;
}
