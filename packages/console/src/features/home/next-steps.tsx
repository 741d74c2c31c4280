import { Box, Button, Flex, Heading, SimpleGrid, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link } from "react-router";
import { useSelf } from "../../session/self.ts";
import { Mark } from "../../ui/display/mark.tsx";
import { hasProviderQuery, recentQuery, tokenCountQuery } from "./api.ts";
import { useTexts } from "./texts.ts";

type StepName = "stepChannel" | "stepToken" | "stepBalance" | "stepRequest";

interface Step {
  readonly name: StepName;
  readonly to: string;
  /** Undefined while it is unknown. */
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

/** Returns the remaining steps before the first request; empty once all are done, undefined while that is unknown. */
export function useSteps(props: { readonly isAdmin: boolean; readonly isOn: boolean }): readonly Step[] | undefined {
  const { isAdmin, isOn } = props;
  const channels = useQuery({ ...hasProviderQuery, enabled: isAdmin && isOn }).data;
  const tokens = useQuery({ ...tokenCountQuery, enabled: isOn }).data;
  const recent = useQuery({ ...recentQuery, enabled: isOn }).data;
  const quota = useSelf()?.quota;
  const all: Step[] = [
    { name: "stepChannel", to: "/setup", isDone: channels?.hasProvider },
    { name: "stepToken", to: "/token/add", isDone: tokens && (tokens.total ?? tokens.rows.length) > 0 },
    { name: "stepBalance", to: "/topup", isDone: quota === undefined ? undefined : quota > 0 },
    { name: "stepRequest", to: "/token", isDone: recent && recent.items.length > 0 },
  ];
  const isOffered: Partial<Record<StepName, boolean>> = {
    stepChannel: isAdmin,
    // New users may have a starting balance.
    stepBalance: quota !== undefined && quota <= 0,
  };
  const steps = all.filter((step) => isOffered[step.name] ?? true);
  if (steps.some((step) => step.isDone === undefined)) return undefined;
  return steps.every((step) => step.isDone) ? [] : steps;
}

/** Leads from an empty gateway to the first request, in place of empty charts. */
function NextSteps(props: { readonly steps: readonly Step[]; readonly height: number }) {
  const t = useTexts();
  const { steps, height } = props;
  const next = steps.find((step) => !step.isDone);
  return (
    <Flex direction="column" mb="3" minH={{ lg: `${height}px` }}>
      <Heading as="h2" textStyle="lg" fontWeight="semibold" mb="3">
        {t("next")}
      </Heading>
      <SimpleGrid as="ol" flex="1" columns={{ base: 1, md: steps.length }} gap="3" listStyleType="none">
        {steps.map((step, index) => (
          <Card key={step.name} step={step} number={index + 1} isNext={step === next} />
        ))}
      </SimpleGrid>
    </Flex>
  );
}

/** Returns what replaces charts without calls: the steps, or `place` of the same height until they are known. */
export function renderNextSteps(steps: readonly Step[] | undefined, height: number, place: ReactNode): ReactNode {
  if (steps === undefined) return place;
  return steps.length === 0 ? undefined : <NextSteps steps={steps} height={height} />;
}
