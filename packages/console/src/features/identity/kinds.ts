/** What differs between the services that companies use, for the words of the form. */
export const PROVIDER_KINDS = {
  entra: {
    label: "kindEntra",
    issuer: "https://login.microsoftonline.com/TENANT-ID/v2.0",
    issuerHelp: "issuerEntra",
    clientHelp: "clientEntra",
    secretHelp: "secretEntra",
    claimsHelp: "claimsEntra",
    domainsHelp: "domainsEntra",
    /** Which claim equals the `externalId` that the directory sends. */
    scimMatch: "oid",
    isOf: (issuer: string) => /^https:\/\/(?:login\.microsoftonline\.(?:com|us)|sts\.windows\.net)\//.test(issuer),
  },
  okta: {
    label: "kindOkta",
    issuer: "https://acme.okta.com",
    issuerHelp: "issuerOkta",
    clientHelp: "clientOkta",
    secretHelp: "secretOkta",
    claimsHelp: "claimsOkta",
    domainsHelp: "domainsUsual",
    scimMatch: "sub",
    isOf: (issuer: string) => /^https:\/\/[^/]+\.okta(?:preview|-emea)?\.com(?:\/|$)/.test(issuer),
  },
  keycloak: {
    label: "kindKeycloak",
    issuer: "https://login.acme.example/realms/staff",
    issuerHelp: "issuerKeycloak",
    clientHelp: "clientKeycloak",
    secretHelp: "secretKeycloak",
    claimsHelp: "claimsKeycloak",
    domainsHelp: "domainsUsual",
    scimMatch: "oid",
    isOf: (issuer: string) => /\/realms\/[^/]+$/.test(issuer),
  },
  google: {
    label: "kindGoogle",
    issuer: "https://accounts.google.com",
    issuerHelp: "issuerGoogle",
    clientHelp: "clientGoogle",
    secretHelp: "secretGoogle",
    claimsHelp: "claimsGoogle",
    domainsHelp: "domainsUsual",
    scimMatch: "sub",
    isOf: (issuer: string) => issuer === "https://accounts.google.com",
  },
  other: {
    label: "kindOther",
    issuer: "https://login.acme.example",
    issuerHelp: "issuerOther",
    clientHelp: "clientOther",
    secretHelp: "secretOther",
    claimsHelp: "claimsOther",
    domainsHelp: "domainsUsual",
    scimMatch: "oid",
    isOf: () => true,
  },
} as const;

export type ProviderKind = keyof typeof PROVIDER_KINDS;

export const KIND_NAMES = ["entra", "okta", "keycloak", "google", "other"] as const satisfies readonly ProviderKind[];

/** Returns the service that an issuer belongs to. */
export function findKind(issuer: string): ProviderKind {
  return KIND_NAMES.find((kind) => PROVIDER_KINDS[kind].isOf(issuer)) ?? "other";
}
