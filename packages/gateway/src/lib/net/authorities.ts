import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { getCACertificates, setDefaultCACertificates } from "node:tls";

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** What Node.js trusts by itself; read before the first change, because a change adds to it. */
let builtIn: readonly string[] | undefined;

/** Authorities of a file, trusted in addition to those that Node.js trusts. */
export interface Authorities {
  /** Number of certificates in the file. */
  readonly count: number;
  /** Reads the file again. Returns true if it has changed. Throws if it cannot be used; the former ones then stay. */
  refresh(): boolean;
}

/** Trusts the authorities of a file for every TLS connection of this process. Throws if the file cannot be used. */
export function trustAuthorities(path: string): Authorities {
  const own = (builtIn ??= getCACertificates("default"));
  let trusted = "";
  let count = 0;
  const refresh = () => {
    const text = readFileSync(path, "utf8");
    if (text === trusted) return false;
    const certificates = parseCertificates(text);
    setDefaultCACertificates([...own, ...certificates]);
    [trusted, count] = [text, certificates.length];
    return true;
  };
  refresh();
  return {
    refresh,
    get count() {
      return count;
    },
  };
}

/** Throws if the text contains no certificate, or a broken one. */
function parseCertificates(text: string): string[] {
  const found = text.match(CERTIFICATE) ?? [];
  if (found.length === 0) throw new Error("it contains no certificate in PEM form");
  for (const [at, pem] of found.entries()) {
    try {
      void new X509Certificate(pem);
    } catch {
      throw new Error(`its certificate ${at + 1} is broken`);
    }
  }
  return found;
}
