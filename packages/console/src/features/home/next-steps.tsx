import { Box, Button, Flex, Heading, SimpleGrid, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { useSelf } from "../../session/self.ts";
import { Mark } from "../../ui/display/mark.tsx";
import { hasProviderQuery, recentQuery, tokenCountQuery } from "./api.ts";
import { useTexts } from "./texts.ts";

type StepName = "stepChannel" | "stepToken" | "stepBalance" | "stepRequest";

interface Step {
  readonly name: StepName;
  readonly to: string;
  /** Undefined while it is not known yet. */
  readonly isDone: boolean | undefined;
}

function Card(props: { readonly step: Step; readonly number: number; readonly isNext: boolean }) {
  const t = useTexts();
  const { step, isNext } = props;
  return (
    <Flex
      as="li"
      direction="column"
      gap="2"
      bg="bg.panel"
      borderWidth="1px"
      borderColor={isNext ? "fairway.focusRing" : "border"}
      borderRadius="l3"
      p="5"
    >
      <Flex align="center" gap="3">
        <Flex
          boxSize="6"
          borderRadius="full"
          bg={isNext ? "fairway.solid" : "bg.muted"}
          color={isNext ? "fairway.contrast" : "fg.muted"}
          align="center"
          justify="center"
          textStyle="xs"
          fontWeight="semibold"
        >
          {props.number}
        </Flex>
        <Heading as="h3" textStyle="lg" fontWeight="semibold" flex="1">
          {t(step.name)}
        </Heading>
        {step.isDone && <Mark kind="go" label={t("done")} />}
      </Flex>
      <Text color="fg.muted" flex="1">
        {t(`${step.name}Body`)}
      </Text>
      <Box>
        <Button asChild variant={isNext ? "solid" : "outline"}>
          <Link to={step.to}>{t(`${step.name}Action`)}</Link>
        </Button>
      </Box>
    </Flex>
  );
}

/** From an empty gateway to the first request; gone once all of it is done. */
export function NextSteps(props: { readonly isAdmin: boolean }) {
  const t = useTexts();
  const channels = useQuery({ ...hasProviderQuery, enabled: props.isAdmin }).data;
  const tokens = useQuery(tokenCountQuery).data;
  const recent = useQuery(recentQuery).data;
  const quota = useSelf()?.quota;
  const all: Step[] = [
    { name: "stepChannel", to: "/setup", isDone: channels?.hasProvider },
    { name: "stepToken", to: "/token/add", isDone: tokens && (tokens.total ?? tokens.rows.length) > 0 },
    { name: "stepBalance", to: "/topup", isDone: quota === undefined ? undefined : quota > 0 },
    { name: "stepRequest", to: "/token", isDone: recent && recent.items.length > 0 },
  ];
  const isOffered: Partial<Record<StepName, boolean>> = {
    stepChannel: props.isAdmin,
    // New users may have something to begin with.
    stepBalance: quota !== undefined && quota <= 0,
  };
  const steps = all.filter((step) => isOffered[step.name] ?? true);
  if (steps.some((step) => step.isDone === undefined) || steps.every((step) => step.isDone)) return null;
  const next = steps.find((step) => !step.isDone);
  return (
    <Box mb="6">
      <Heading as="h2" textStyle="lg" fontWeight="semibold" mb="3">
        {t("next")}
      </Heading>
      <SimpleGrid as="ol" columns={{ base: 1, md: steps.length }} gap="3" listStyleType="none">
        {steps.map((step, index) => (
          <Card key={step.name} step={step} number={index + 1} isNext={step === next} />
        ))}
      </SimpleGrid>
    </Box>
  );
}
