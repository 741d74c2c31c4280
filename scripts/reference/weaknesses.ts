import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../bootstrap.mjs";
import { code, page, table } from "./markdown.ts";

/** A weakness in words, the file of the test that keeps it out (below packages), and how its title begins. */
type Entry = readonly [weakness: string, file: string, title: string];

const R = "gateway/src/resources";
const I = "gateway/src/identity";
const T = "gateway/test";

const MONEY: readonly Entry[] = [
  [
    "Whole rows are written back, and charges in between are lost",
    `${R}/users/admin-routes.test.ts`,
    "takes a whole row back",
  ],
  ["Two redeem one code at the same time", `${R}/wallet/routes.test.ts`, "lets exactly one of many at once have it"],
  [
    "A payment notice is confirmed before it is booked, or booked twice",
    `${R}/wallet/routes.test.ts`,
    "are told to come again when they cannot be booked",
  ],
  [
    "A payment notice of another shop, of other money or without a signature counts",
    `${R}/wallet/routes.test.ts`,
    "that are forged, for others, or of other money",
  ],
  [
    "Money is computed in binary fractions",
    `${R}/wallet/epay.test.ts`,
    "money is computed in decimals and rounded once",
  ],
  [
    "A form that was opened minutes ago sets the balance of then",
    `${R}/users/admin-routes.test.ts`,
    "moves the balance through the ledger",
  ],
  [
    "Reservations are checked and made in two steps: parallel requests overdraw",
    "gateway/src/billing/ledger/ledger.contract.ts",
    "admits as many as the balance carries",
  ],
  [
    "Balances are kept in memory and lost with the process",
    "testkit/integration/crash.test.ts",
    "leaves a ledger that equals the balances",
  ],
  ["A used code is switched back and redeemed again", `${R}/redemptions/routes.test.ts`, "a used code stays as it is"],
  ["Tokens take negative quotas and foreign groups", `${R}/tokens/routes.test.ts`, "refuses what a token cannot be"],
  [
    "A failed task is paid back twice",
    `${T}/task-poll.test.ts`,
    "follows drawings to their end, and pays back what failed, once",
  ],
  [
    "A typing error in a price makes everything free",
    `${R}/options/routes.test.ts`,
    "refuse with the code of the rule",
  ],
  [
    "Sums of usage are doubled or lost when replicas gather them",
    `${R}/usage-data/rollup.test.ts`,
    "count no row twice",
  ],
];

const SESSIONS: readonly Entry[] = [
  [
    "Role and state are taken from the cookie",
    `${R}/users/manage-route.test.ts`,
    "promote and demote hold for running sessions",
  ],
  [
    "A disabled or deleted user keeps his session",
    `${R}/users/manage-route.test.ts`,
    "disable and enable, effective at once",
  ],
  [
    "The session keeps its name over the sign-in, so that it can be planted",
    `${R}/auth/routes.test.ts`,
    "gives a new session name each time",
  ],
  [
    "The cookie can be read by scripts or sent along by other sites",
    `${R}/auth/routes.test.ts`,
    "answers the stored user and opens a session",
  ],
  [
    "Each process has a session secret of its own",
    `${I}/first-start.test.ts`,
    "keeps one session secret for all replicas",
  ],
  ["Lists show access tokens", `${R}/users/self-routes.test.ts`, "is shown without secrets"],
  [
    "Administrators see addresses of equals and superiors",
    `${R}/users/admin-routes.test.ts`,
    "blanks addresses of equals and superiors",
  ],
  [
    "A call without an id acts on the first row; unknown actions succeed",
    `${R}/users/manage-route.test.ts`,
    "G1, U1, U12 come in this order",
  ],
  [
    "Administrators erase the history",
    `${R}/logs/routes.test.ts`,
    "is for the super administrator, and leaves a row that tells",
  ],
  [
    "Calls that change something are triggered by prefetching or by other sites",
    `${T}/api-security.test.ts`,
    "writes of other sites and effects of prefetchers",
  ],
  [
    "A forged link binds a stranger's account",
    `${R}/auth/oauth-routes.test.ts`,
    "is bound by the widget's own navigation too",
  ],
  ["One human check opens the session for ever", `${R}/auth/oauth-routes.test.ts`, "one success covers ten minutes"],
  ["The human check opens when its server cannot be asked", `${R}/auth/oauth-routes.test.ts`, "T1, T2, T3"],
  ["A sign-in service lets disabled users in", `${R}/auth/oauth-routes.test.ts`, "signs in whom it is bound to"],
  [
    "Whoever comes first to a new instance owns it",
    `${R}/status/routes.test.ts`,
    "asks for its token when there is one",
  ],
  ["Two set the instance up at the same time", `${R}/status/routes.test.ts`, "makes exactly one super administrator"],
  [
    "The default password is used beyond this machine",
    `${I}/first-start.test.ts`,
    "is replaced by a made-up one elsewhere",
  ],
  [
    "The first account comes back when all were deleted",
    `${I}/first-start.test.ts`,
    "does not make another one when only deleted users are left",
  ],
  [
    "Own figures are found by name, also those of a former owner of the name",
    `${R}/logs/routes.test.ts`,
    "follow the filter; owners get their own",
  ],
  [
    "Deleted users leave tokens that work",
    `${R}/users/admin-routes.test.ts`,
    "frees the name and removes tokens and sessions",
  ],
  ["Deleted channels leave routes", `${R}/channels/store.test.ts`, "deletes channels with their routing rows"],
  [
    "A list of addresses without a valid line lets everybody in",
    `${I}/authenticator.test.ts`,
    "keeps to the token's addresses",
  ],
  ["A form sets members that are not on it", `${T}/api-security.test.ts`, "members beside the form change nothing"],
  [
    "A call has no permission attached",
    "gateway/src/http/route-table.test.ts",
    "refuses an endpoint without a permission",
  ],
  ["A call is open to a role below its own", `${T}/api-security.test.ts`, "every call refuses roles below its own"],
];

const CREDENTIALS: readonly Entry[] = [
  ["Passwords are guessed without end", `${R}/auth/routes.test.ts`, "L4: ten failures shut an account"],
  [
    "A missing account answers faster than a wrong password",
    `${I}/passwords.test.ts`,
    "take as long for a missing account",
  ],
  [
    "A guess tells whether the account exists",
    `${T}/api-security.test.ts`,
    "a guessed and an unknown account look alike",
  ],
  [
    "Anybody names his address in a header",
    "gateway/src/http/guards.test.ts",
    "believe forwarded addresses only of trusted proxies",
  ],
  ["Each replica counts attempts alone", "gateway/src/limits/limiter-redis.test.ts", "replicas count together"],
  ["Mailed codes can be tried without end and used again", `${I}/stores.test.ts`, "are void after five wrong tries"],
  ["One code is used by two calls at once", `${I}/stores.test.ts`, "are consumed by one of many callers"],
  ["Secrets are compared so that time tells them", `${T}/weaknesses.test.ts`, "are compared in constant time"],
  ["Data of Telegram is good for ever", `${I}/oauth/telegram.test.ts`, "lives a day"],
  [
    "A parameter given twice passes the signature",
    `${I}/oauth/telegram.test.ts`,
    "is refused with another token, another field",
  ],
  ["The state of a sign-in is guessed, old or used before", `${R}/auth/oauth-routes.test.ts`, "O1 comes first"],
  [
    "An account of a service is known by a name that its owner can give away",
    `${R}/auth/oauth-routes.test.ts`,
    "knows a renamed owner again",
  ],
  ["Two users have one e-mail address", `${R}/auth/email-routes.test.ts`, "can be bound to an account: E1, E9, R6, R8"],
  ["A user name looks like the address of another user", `${R}/auth/routes.test.ts`, "takes names with 20 characters"],
  [
    "A new password leaves other sessions open",
    `${R}/users/self-routes.test.ts`,
    "a new password ends the other sessions",
  ],
  [
    "A reset leaves sessions and access tokens alive",
    `${R}/auth/email-routes.test.ts`,
    "mails a link and exchanges it once",
  ],
  [
    "A password that an administrator sets leaves access tokens alive",
    `${R}/users/admin-routes.test.ts`,
    "a new password ends the user's sessions and access tokens",
  ],
  [
    "A sign-in service gives an account an address that it does not vouch for",
    `${R}/auth/code-routes.test.ts`,
    "takes a verified address, in text too, and never signs in or joins another account by it",
  ],
  [
    "Some call shows or changes what belongs to another user",
    `${T}/api-ownership.test.ts`,
    "nothing of another user is shown, changed or deleted",
  ],
  [
    "Access tokens lie readable in the database",
    `${I}/stores.test.ts`,
    "replace one another by name and are stored as hashes",
  ],
  [
    "Keys of users lie readable in the database",
    `${R}/tokens/store.test.ts`,
    "a key is shown to its owner, stored sealed",
  ],
  [
    "Made-up names collide, and the sign-in fails",
    `${R}/auth/oauth-routes.test.ts`,
    "many arrivals at once make one account",
  ],
  ["A signed payment event is sent again", `${R}/stripe/routes.test.ts`, "must be signed with the secret"],
];

const LEAKS: readonly Entry[] = [
  ["Keys of channels are in answers", `${R}/channels/routes.test.ts`, "shows everything but the key"],
  ["Secrets are in answers, errors or the log", `${T}/api-security.test.ts`, "stand in no answer, no error and no log"],
  [
    "Users see channels and true numbers of log rows",
    `${R}/logs/routes.test.ts`,
    "hide from owners what is the operator's",
  ],
  [
    "A reset tells which addresses are known",
    `${R}/auth/email-routes.test.ts`,
    "does not tell which addresses are known",
  ],
  ["Errors of the database reach the client", "gateway/src/http/mount.test.ts", "show nothing internal"],
  [
    "The upstream's words reach users, with the key in them",
    `${R}/channels/upstream.test.ts`,
    "tells the upstream's message without the key",
  ],
  [
    "A secret option is shown because its name is spelled otherwise",
    `${R}/options/routes.test.ts`,
    "are listed by key with their defaults, hidden ones left out",
  ],
  [
    "Strangers see all groups and their ratios",
    `${R}/pricing/routes.test.ts`,
    "anonymous callers see the offered groups",
  ],
  ["A profiler is open to everybody", `${T}/weaknesses.test.ts`, "are not served at"],
  [
    "Every origin may read answers with credentials",
    "gateway/src/http/mount.test.ts",
    "lets other origins read only the calls that are meant for it",
  ],
  ["Logs of a key are read without a limit", `${R}/logs/routes.test.ts`, "counts as worth guessing at"],
];

const INJECTION: readonly Entry[] = [
  [
    "Addresses that users give lead into the own network",
    "gateway/src/lib/net/guarded-fetch.test.ts",
    "connects to nothing but the addresses that were checked",
  ],
  [
    "Addresses of channels lead where the operator did not mean",
    `${T}/private-upstreams.test.ts`,
    "a channel at %s is not reached",
  ],
  [
    "Fetched pictures run as pages of the console",
    `${T}/relay-tasks.test.ts`,
    "show their pictures through the gateway",
  ],
  [
    "A quote in an address adds members to a request",
    `${T}/weaknesses.test.ts`,
    "carry an address with quotes as one value",
  ],
  ["Texts put markup into mails", `${I}/mail.test.ts`, "escape what is put in"],
  ["An address adds recipients", `${I}/mail.test.ts`, "go to exactly one address"],
  [
    "The password of the mail server goes over the wire in clear",
    `${I}/mail.test.ts`,
    "never carries a password in clear",
  ],
  ["Links of the operator run scripts", `${T}/weaknesses.test.ts`, "cannot run scripts"],
  ["The console runs scripts of its texts", "gateway/src/http/static.test.ts", "allows nothing inline"],
  ["Signs of a search are taken as a pattern", `${R}/logs/routes.test.ts`, "take hostile filters literally"],
  [
    "A page has as many rows as somebody asks for",
    `${R}/channels/routes.test.ts`,
    "page from 0, 10 rows unless asked, at most 100",
  ],
  ["A search answers everything", `${R}/channels/routes.test.ts`, "search by every field, unpaged unless asked"],
  [
    "Balances of all channels are asked inside one request",
    `${R}/channels/upstream.test.ts`,
    "of all enabled channels are refreshed in a job",
  ],
  ["A job that fails never runs again", `${R}/jobs/store.test.ts`, "a job that throws is failed and frees its name"],
  [
    "A missing value wipes a secret option",
    `${R}/options/routes.test.ts`,
    "G1 without a key; without a value nothing changes",
  ],
  [
    "Some of many channels are made before one fails",
    `${R}/channels/store.test.ts`,
    "creates all channels of a call or none",
  ],
  [
    "A stale form overwrites counters of a channel",
    `${R}/channels/routes.test.ts`,
    "ignores what only the server may set",
  ],
  ["Bodies have no limit", "gateway/src/http/mount.test.ts", "G7 for a body above 1 MiB"],
  [
    "Formulas in an export run in a spreadsheet",
    `${R}/logs/routes.test.ts`,
    "streams everything that matches as CSV, safe for spreadsheets",
  ],
  ["A redirect leads anywhere", `${R}/auth/oauth-routes.test.ts`, "is bound by the widget's own navigation too"],
  ["Some input ends in an error of the server", `${T}/api-fuzz.test.ts`, "no 5xx, no hang, no leak, whatever is sent"],
];

const GROUPS = {
  Money: MONEY,
  "Sessions and permissions": SESSIONS,
  Credentials: CREDENTIALS,
  Leaks: LEAKS,
  "Injection and load": INJECTION,
} as const;

/** Throws when a test is not there any more. */
export function weaknesses(): string {
  return page(
    "Weaknesses that are kept out",
    "scripts/reference/weaknesses.ts and the tests that it names",
    "What servers of this kind were seen to get wrong, and the test that fails when it comes back. [How the rest is secured](../explain/security.md).",
    ...Object.entries(GROUPS).map(
      ([group, entries]) => `## ${group}\n\n${table(["Weakness", "Test"], entries.map(rowOf))}`,
    ),
  );
}

function rowOf([weakness, file, title]: Entry): readonly string[] {
  const tests = readFileSync(join(ROOT, "packages", file), "utf8");
  if (!tests.includes(`"${title}`)) throw new Error(`${file} has no test that begins with: ${title}`);
  return [weakness, `${code(`packages/${file}`)}: ${title}`];
}
