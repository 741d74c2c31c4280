import { GROUP_SCHEMA } from "./group.ts";
import { ENTERPRISE_SCHEMA, USER_SCHEMA } from "./user.ts";

/** The documents with which a server describes itself (RFC 7643, sections 5 to 7). */

const MAX_RESULTS = 200;

export function describeServer(base: string): Readonly<Record<string, unknown>> {
  const off = { supported: false };
  return {
    schemas: ["urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig"],
    patch: { supported: true },
    bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
    filter: { supported: true, maxResults: MAX_RESULTS },
    changePassword: off,
    sort: off,
    etag: { supported: true },
    authenticationSchemes: [
      {
        type: "oauthbearertoken",
        name: "Bearer token",
        description: "A token that the operator of the gateway makes for the directory.",
        primary: true,
      },
    ],
    meta: { resourceType: "ServiceProviderConfig", location: `${base}/ServiceProviderConfig` },
  };
}

export function listResourceTypes(base: string): readonly { readonly id: string }[] {
  const describe = (id: string, schema: string, more: object) => ({
    schemas: ["urn:ietf:params:scim:schemas:core:2.0:ResourceType"],
    id,
    name: id,
    endpoint: `/${id}s`,
    schema,
    ...more,
    meta: { resourceType: "ResourceType", location: `${base}/ResourceTypes/${id}` },
  });
  const extensions = { schemaExtensions: [{ schema: ENTERPRISE_SCHEMA, required: false }] };
  return [describe("User", USER_SCHEMA, extensions), describe("Group", GROUP_SCHEMA, {})];
}

const text = (name: string, more: object = {}) => ({
  name,
  type: "string",
  multiValued: false,
  required: false,
  caseExact: false,
  mutability: "readWrite",
  returned: "default",
  uniqueness: "none",
  ...more,
});
const list = (name: string, subAttributes: readonly object[], more: object = {}) =>
  text(name, { type: "complex", multiValued: true, subAttributes, ...more });
const READ_ONLY = { mutability: "readOnly" };

export function listSchemas(base: string): readonly { readonly id: string }[] {
  const describe = (id: string, name: string, attributes: readonly object[]) => ({
    schemas: ["urn:ietf:params:scim:schemas:core:2.0:Schema"],
    id,
    name,
    attributes,
    meta: { resourceType: "Schema", location: `${base}/Schemas/${id}` },
  });
  const names = ["formatted", "familyName", "givenName", "middleName", "honorificPrefix", "honorificSuffix"];
  return [
    describe(USER_SCHEMA, "User", [
      text("userName", { required: true, uniqueness: "server" }),
      text("displayName"),
      text("name", { type: "complex", subAttributes: names.map((name) => text(name)) }),
      text("active", { type: "boolean" }),
      list("emails", [text("value"), text("type"), text("primary", { type: "boolean" })]),
      list("groups", [text("value", READ_ONLY), text("display", READ_ONLY)], READ_ONLY),
    ]),
    describe(GROUP_SCHEMA, "Group", [
      text("displayName", { required: true }),
      list("members", [text("value", { mutability: "immutable" })]),
    ]),
    describe(ENTERPRISE_SCHEMA, "EnterpriseUser", [text("department"), text("costCenter")]),
  ];
}
