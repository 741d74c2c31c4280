import type { Attributes } from "./filter.ts";

export const USER_SCHEMA = "urn:ietf:params:scim:schemas:core:2.0:User";
export const ENTERPRISE_SCHEMA = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";

export interface Email {
  readonly value: string;
  readonly type: string;
  readonly primary: boolean;
}

/** What a directory says of a person; attributes beyond these are not stored. */
export interface UserFacts {
  readonly userName: string;
  /** "" = none. */
  readonly externalId: string;
  readonly active: boolean;
  readonly displayName: string;
  /** Members of `name`: givenName, familyName, formatted and so on. */
  readonly name: Readonly<Record<string, string>>;
  readonly emails: readonly Email[];
  readonly department: string;
  readonly costCenter: string;
}

/** A person of a directory as it is stored. */
export interface ScimUser extends UserFacts {
  readonly id: string;
  readonly userId: number;
  readonly version: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export const NEW_USER: UserFacts = {
  userName: "",
  externalId: "",
  active: true,
  displayName: "",
  name: {},
  emails: [],
  department: "",
  costCenter: "",
};

const readText = (value: string) => (value === "" ? [] : [value]);
const readEmails = ({ emails }: UserFacts, type?: string) =>
  emails.filter((one) => type === undefined || one.type.toLowerCase() === type).map(({ value }) => value);

/** The attributes by which users are found. */
export const USER_ATTRIBUTES: Attributes<ScimUser> = {
  id: { isExact: true, read: ({ id }) => [id] },
  externalid: { isExact: true, read: ({ externalId }) => readText(externalId) },
  username: { isExact: false, read: ({ userName }) => readText(userName) },
  displayname: { isExact: false, read: ({ displayName }) => readText(displayName) },
  active: { isExact: true, read: ({ active }) => [active] },
  emails: { isExact: false, read: (user) => readEmails(user) },
  "emails.value": { isExact: false, read: (user) => readEmails(user) },
  "emails[work]": { isExact: false, read: (user) => readEmails(user, "work") },
  "emails[work].value": { isExact: false, read: (user) => readEmails(user, "work") },
};

/** Returns the name that people see. */
export function findDisplayName({ displayName, name, userName }: UserFacts): string {
  const full = [name["givenName"], name["familyName"]].filter(Boolean).join(" ");
  return displayName || name["formatted"] || full || userName;
}

export interface UserView {
  readonly base: string;
  readonly groups: readonly { readonly id: string; readonly displayName: string }[];
}

export function toUserResource(user: ScimUser, { base, groups }: UserView): Readonly<Record<string, unknown>> {
  const { id, userName, externalId, active, displayName, name, emails, department, costCenter } = user;
  const extension = { ...(department !== "" && { department }), ...(costCenter !== "" && { costCenter }) };
  const isExtended = Object.keys(extension).length > 0;
  return {
    schemas: [USER_SCHEMA, ...(isExtended ? [ENTERPRISE_SCHEMA] : [])],
    id,
    ...(externalId !== "" && { externalId }),
    userName,
    ...(displayName !== "" && { displayName }),
    ...(Object.keys(name).length > 0 && { name }),
    active,
    emails,
    groups: groups.map((group) => ({
      value: group.id,
      display: group.displayName,
      $ref: `${base}/Groups/${group.id}`,
    })),
    ...(isExtended && { [ENTERPRISE_SCHEMA]: extension }),
    meta: buildMeta("User", `${base}/Users/${id}`, user),
  };
}

interface Dated {
  readonly version: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export function buildMeta(resourceType: string, location: string, { version, createdAt, updatedAt }: Dated) {
  return {
    resourceType,
    created: toDate(createdAt),
    lastModified: toDate(updatedAt),
    location,
    version: buildVersion(version),
  };
}

export function buildVersion(version: number): string {
  return `W/"${version}"`;
}

function toDate(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}
