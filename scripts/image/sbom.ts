// Lists the parts of the image as CycloneDX: the npm packages whose code ships, Node, and the Debian packages.
import type { Architecture, DebianPackage } from "./packages.ts";
import type { ShippedPackage } from "./shipped.ts";

interface ImageParts {
  readonly version: string;
  readonly architecture: Architecture;
  /** `sha256:…` of the image's manifest. */
  readonly digest: string;
  readonly node: string;
  readonly npm: readonly ShippedPackage[];
  readonly debian: readonly DebianPackage[];
}

interface Component {
  readonly type: "library";
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly licenses?: readonly { readonly license: { readonly name: string } }[];
  readonly hashes?: readonly { readonly alg: "SHA-256"; readonly content: string }[];
}

export function buildBillOfMaterials({ version, architecture, digest, node, npm, debian }: ImageParts) {
  const [, hash = ""] = digest.split(":");
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.5",
    version: 1,
    metadata: {
      component: {
        type: "container",
        name: "fairway/gateway",
        version: digest,
        purl: `pkg:oci/gateway@${encodeURIComponent(digest)}?arch=${architecture}&tag=${version}`,
        hashes: [{ alg: "SHA-256", content: hash }],
      },
    },
    components: [
      describe("npm", "node", node, { license: "MIT" }),
      ...npm.map(({ name, version: release, license }) => describe("npm", name, release, { license })),
      ...debian.map(({ name, version: release, sha256 }) =>
        describe("deb/debian", name, release, { sha256, qualifiers: `?arch=${architecture}` }),
      ),
    ],
  };
}

function describe(
  type: string,
  name: string,
  version: string,
  more: { readonly license?: string; readonly sha256?: string; readonly qualifiers?: string },
): Component {
  const purl = `pkg:${type}/${name.replace("@", "%40")}@${encodeURIComponent(version)}${more.qualifiers ?? ""}`;
  return {
    type: "library",
    name,
    version,
    purl,
    ...(more.license && { licenses: [{ license: { name: more.license } }] }),
    ...(more.sha256 && { hashes: [{ alg: "SHA-256", content: more.sha256 }] }),
  };
}
