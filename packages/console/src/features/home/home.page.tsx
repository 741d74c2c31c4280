import { Box, Button, Flex, Heading, SimpleGrid, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link } from "react-router";
import { modelsQuery } from "../../session/models.ts";
import { useSelf } from "../../session/self.ts";
import { isAdmin, useUser } from "../../session/session.ts";
import { useStatus } from "../../session/status.ts";
import { contentKind } from "../../lib/content.ts";
import { formatCount } from "../../lib/format.ts";
import { useLanguage } from "../../lib/i18n.ts";
import { Content } from "../../ui/content/content.tsx";
import { Icon } from "../../ui/display/icon.tsx";
import { Money } from "../../ui/display/money.tsx";
import { Page } from "../../ui/display/page.tsx";
import { Announcement } from "./announcement.tsx";
import { ownHomeQuery, todayQuery } from "./api.ts";
import { DemoNotice } from "./demo-notice.tsx";
import { NextSteps } from "./next-steps.tsx";
import { Recent } from "./recent.tsx";
import { useTexts } from "./texts.ts";

function Figure(props: { readonly label: string; readonly children: ReactNode }) {
  return (
    <Box bg="bg.panel" borderWidth="1px" borderRadius="l3" px={{ base: "3", sm: "5" }} py="4" minW="0">
      <Text textStyle="sm" color="fg.muted">
        {props.label}
      </Text>
      <Box textStyle={{ base: "xl", sm: "2xl" }} fontWeight="semibold" minH="9" overflowWrap="anywhere">
        {props.children}
      </Box>
    </Box>
  );
}

function Figures() {
  const t = useTexts();
  const language = useLanguage();
  const self = useSelf();
  const { data: today, error } = useQuery(todayQuery);
  const models = useQuery(modelsQuery).data;
  // What failed says so below, where it can be tried again.
  const none = error && !today ? "–" : undefined;
  return (
    <SimpleGrid columns={{ base: 2, md: 4 }} gap="3" mb="6">
      <Figure label={t("balance")}>{self && <Money quota={self.quota} />}</Figure>
      <Figure label={t("spentToday")}>{today ? <Money quota={today.quota} /> : none}</Figure>
      <Figure label={t("perMinute")}>{today ? formatCount(today.rpm, language) : none}</Figure>
      <Figure label={t("models")}>{models && formatCount(models.length, language)}</Figure>
    </SimpleGrid>
  );
}

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
  if (user) return <Overview isAdmin={isAdmin(user)} />;
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

function Overview(props: { readonly isAdmin: boolean }) {
  const t = useTexts();
  return (
    <Page title={t("title")}>
      <Announcement />
      {props.isAdmin && <DemoNotice />}
      <Figures />
      <NextSteps isAdmin={props.isAdmin} />
      <Recent />
    </Page>
  );
}
