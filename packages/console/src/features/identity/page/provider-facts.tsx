import type { IdentityProvider } from "@fairway/wire";
import { useStatus } from "../../../session/status.ts";
import { CopyButton } from "../../../ui/content/copy-button.tsx";
import { Facts } from "../../../ui/display/facts.tsx";
import { findKind, PROVIDER_KINDS } from "../kinds.ts";
import { useTexts } from "../texts.ts";

/** What to enter at the provider, and what is set up here. */
export function ProviderFacts({ row }: { readonly row: IdentityProvider }) {
  const t = useTexts();
  const { server_address: server } = useStatus();
  const address = (path: string) => {
    const text = `${server}${path}`;
    return (
      <span key={path}>
        <code>{text}</code> <CopyButton text={text} label={t("copyAddress")} />
      </span>
    );
  };
  return (
    <div className="facts">
      <Facts
        title={t("atProvider")}
        items={[
          [t("redirect"), address(`/oauth/${row.slug}`)],
          [t("backchannel"), address(`/api/oauth/${row.slug}/backchannel`)],
          [t("directoryAddress"), address(`/scim/v2/${row.slug}`)],
        ]}
      />
      <Facts
        title={t("sectionProvider")}
        items={[
          [t("kind"), t(PROVIDER_KINDS[findKind(row.issuer)].label)],
          [t("issuer"), <code key="issuer">{row.issuer}</code>],
          [t("client"), <code key="client">{row.client_id}</code>],
          [t("domains"), row.domains.join(", ")],
          [t("rules"), row.mapping.length],
        ]}
      />
    </div>
  );
}
