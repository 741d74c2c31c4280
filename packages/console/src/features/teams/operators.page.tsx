import { INSTALLATION_TEAM } from "@fairway/wire";
import { Text } from "@chakra-ui/react";
import { Page } from "../../ui/display/page.tsx";
import { ServiceAccounts } from "./page/service-accounts.tsx";
import { useTexts } from "./texts.ts";

/** The programs that act as administrators of the installation. */
export function OperatorsPage() {
  const t = useTexts();
  return (
    <Page title={t("operatorAccounts")}>
      <Text color="fg.muted" mb="3">
        {t("operatorIntro")}
      </Text>
      <ServiceAccounts team={INSTALLATION_TEAM} />
    </Page>
  );
}
