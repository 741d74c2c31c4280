import { Flex, Text } from "@chakra-ui/react";
import { useStatus } from "../../../session/status.ts";
import { CopyButton } from "../../../ui/content/copy-button.tsx";
import { baseAddress } from "../../../ui/content/connection.ts";
import type { SectionId } from "../options/sections.ts";
import { useTexts } from "../texts.ts";

/** Sections of services that need to know their callback address. */
const CALLBACKS: Partial<Record<SectionId, string>> = {
  github: "/oauth/github",
  oidc: "/oauth/oidc",
  linuxdo: "/oauth/linuxdo",
};

/** Values to enter at the service itself. */
export function CallbackNote({ group }: { readonly group: SectionId }) {
  const t = useTexts();
  const base = baseAddress(useStatus().server_address);
  const path = CALLBACKS[group];
  if (path === undefined && group !== "telegram") return null;
  const text = path === undefined ? new URL(base).host : `${base}${path}`;
  return (
    <Text as="div" textStyle="sm" color="fg.muted">
      {t(path === undefined ? "callbackDomain" : "callback")}
      <Flex align="center" gap="1">
        <Text as="code" fontFamily="mono" color="fg" overflowWrap="anywhere">
          {text}
        </Text>
        <CopyButton text={text} label={t("copyCallback")} />
      </Flex>
    </Text>
  );
}
