import { Box, Button, Flex, Heading, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { contentKind } from "../../lib/text/content.ts";
import { isAdmin, useUser } from "../../session/session.ts";
import { useStatus } from "../../session/status.ts";
import { Content } from "../../ui/content/content.tsx";
import { Icon } from "../../ui/display/icon.tsx";
import { Page } from "../../ui/display/page.tsx";
import { Announcement } from "./announcement.tsx";
import { ownHomeQuery } from "./api.ts";
import { OperatorOverview } from "./operator/operator-overview.tsx";
import { useTexts } from "./texts.ts";
import { UserOverview } from "./user/user-overview.tsx";

function Welcome() {
  const t = useTexts();
  const { system_name: name } = useStatus();
  return (
    <Flex direction="column" align="center" textAlign="center" gap="4" px="6" py={{ base: "16", md: "28" }}>
      <img src="/mark.svg" alt="" width={64} height={64} />
      <Heading as="h1" textStyle="2xl" fontWeight="semibold">
        {t("welcome")}
      </Heading>
      <Text color="fg.muted" maxW="34rem" textStyle="lg">
        {t("welcomeBody", { name })}
      </Text>
      <Button asChild size="lg" mt="2">
        <Link to="/login">
          {t("signIn")}
          <Icon name="right" />
        </Link>
      </Button>
    </Flex>
  );
}

/** The operator's page or, without one, a welcome for visitors and an overview for users. */
export function HomePage() {
  const { data: own, error } = useQuery(ownHomeQuery);
  const user = useUser();
  if (own === undefined && !error) return <Box aria-busy="true" />;
  if (own) return <OwnHome text={own} />;
  if (user) return isAdmin(user) ? <OperatorOverview /> : <UserOverview />;
  return (
    <>
      <Box px={{ base: "4", sm: "6" }} pt="3">
        <Announcement />
      </Box>
      <Welcome />
    </>
  );
}

function OwnHome({ text }: { readonly text: string }) {
  const t = useTexts();
  const isFramed = contentKind(text) === "frame";
  return (
    <Page title={t("home")} width={isFramed ? "full" : "form"}>
      <Announcement />
      <Content text={text} title={t("home")} />
    </Page>
  );
}
