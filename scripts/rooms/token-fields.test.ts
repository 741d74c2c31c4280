// Counts the product files that name a field of a token: its declaration and its migration. Everything else derives from
// the declaration, or uses the value. A field with a form has its lines there and two texts.
import { expect, test } from "vitest";
import { TOKEN_FIELD_NAMES } from "../../packages/wire/src/index.ts";
import { listFiles, listLists, MIGRATIONS } from "./field-files.ts";

const MAX_FILES = 2;
/** A file that names this many fields lists them, as their declaration should alone. */
const MAX_NAMES = 5;

/** Files that use the value of a field, or place it in a form. Carrying it is not a use. */
const READERS: Readonly<Record<string, readonly string[]>> = {
  rotate_days: [
    "packages/gateway/src/resources/tokens/plan-rotation.ts",
    "packages/gateway/src/resources/tokens/replace-key.ts",
    "packages/gateway/src/resources/import/databases/litellm/team-keys.ts",
    "packages/console/src/features/tokens/facts.tsx",
    "packages/console/src/features/tokens/locale/en.ts",
    "packages/console/src/features/tokens/locale/zh.ts",
    "packages/cli/src/commands/token/token.ts",
  ],
  rotate_grace_seconds: [
    "packages/gateway/src/resources/tokens/replace-key.ts",
    "packages/gateway/src/resources/tokens/rotate-due.ts",
  ],
};

/** Files that name many fields for a reason of their own. */
const LISTS: readonly string[] = [
  "packages/wire/src/accounts/token-fields.ts",
  // The columns of the first release.
  `${MIGRATIONS}0001-accounts.ts`,
  // Columns of other gateways.
  "packages/gateway/src/resources/import/databases/litellm/keys.ts",
  "packages/gateway/src/resources/import/databases/new-api/columns.ts",
  "packages/gateway/src/resources/import/databases/new-api/tokens.ts",
  // Where each field is checked or parsed that needs more than its declaration.
  "packages/gateway/src/resources/tokens/input.ts",
  "packages/gateway/src/snapshot/tokens.ts",
  // What is known of a key that is used.
  "packages/gateway/src/snapshot/types.ts",
  // How kinds of fields are written in documents; some kinds have the name of their only field.
  "packages/gateway/src/resources/declarative/token-kind.ts",
  // What the relay needs to know of its caller.
  "packages/gateway/src/identity/authentication/authenticator.ts",
  // An answer of compatible gateways.
  "packages/gateway/src/resources/tokens/usage-route.ts",
  // Forms, columns and sheets with controls and words of their own.
  "packages/console/src/features/setup/api.ts",
  "packages/console/src/features/teams/page/key-form.ts",
  "packages/console/src/features/tokens/columns.tsx",
  "packages/console/src/features/tokens/facts.tsx",
  "packages/console/src/features/tokens/token-form.ts",
  "packages/console/src/features/tokens/token.drawer.tsx",
  "packages/cli/src/commands/chat/key.ts",
  "packages/cli/src/commands/token/token.ts",
  "packages/cli/src/commands/ui/lists/creations.ts",
];

test.each(Object.entries(READERS))("%s is in two product files and those that use it", (field, readers) => {
  const found = listFiles(field);
  const carriers = found.filter((file) => !readers.includes(file));
  expect(readers.filter((file) => !found.includes(file))).toEqual([]);
  expect(carriers.length, carriers.join("\n")).toBeLessThanOrEqual(MAX_FILES);
});

test("no other file lists the fields of a token", () => {
  expect(listLists(TOKEN_FIELD_NAMES, MAX_NAMES).filter((file) => !LISTS.includes(file))).toEqual([]);
});
