import type { IdentityCheck, IdentityProvider, IdentityProviderTest } from "@fairway/wire";
import { Box, Button, Flex, Heading, Text } from "@chakra-ui/react";
import { useState } from "react";
import { Icon } from "../../../ui/display/icon.tsx";
import { Mark, type MarkKind } from "../../../ui/display/mark.tsx";
import { toastProblem } from "../../../ui/feedback/toaster.ts";
import { AreaField } from "../../../ui/form/field.tsx";
import { testProvider } from "../api.ts";
import { useTexts } from "../texts.ts";
import { parseClaims } from "./claims.ts";

/** Tests the provider, and shows what pasted claims would give. */
export function TestPanel({ row }: { readonly row: IdentityProvider }) {
  const t = useTexts();
  const [claims, setClaims] = useState("");
  const [isRunning, setRunning] = useState(false);
  const [result, setResult] = useState<IdentityProviderTest>();
  const parsed = parseClaims(claims);
  const run = async () => {
    if (parsed === undefined) return;
    setRunning(true);
    await testProvider(row.id, parsed).then(setResult, toastProblem);
    setRunning(false);
  };
  return (
    <Box as="section" borderWidth="1px" borderRadius="l3" bg="bg.panel" p="4">
      <Flex align="center" gap="3" mb="3">
        <Heading as="h2" textStyle="md" flex="1">
          {t("testTitle")}
        </Heading>
        <Button loading={isRunning} loadingText={t("testing")} onClick={() => void run()}>
          <Icon name="play" />
          {t("test")}
        </Button>
      </Flex>
      <AreaField
        label={t("claims")}
        isMono
        rows={4}
        placeholder='{"groups": ["fw-admins"]}'
        help={t("claimsHelp")}
        value={claims}
        error={parsed === undefined ? t("claimsWrong") : undefined}
        onChange={setClaims}
      />
      {result && (
        <Box role="status" mt="4">
          {result.checks.map((check) => (
            <Check key={check.name} check={check} />
          ))}
          {claims.trim() !== "" && <Gifts mapping={result.mapping} />}
        </Box>
      )}
    </Box>
  );
}

const MARKS: Readonly<Record<IdentityCheck["state"], MarkKind>> = {
  passed: "go",
  warning: "caution",
  failed: "stop",
  skipped: "parked",
};

const CHECK_TEXT = {
  address: "checkAddress",
  discovery: "checkDiscovery",
  issuer: "checkIssuer",
  endpoints: "checkEndpoints",
  keys: "checkKeys",
  algorithm: "checkAlgorithm",
  client: "checkClient",
  scopes: "checkScopes",
  logout: "checkLogout",
} as const;

const CURE_TEXT = {
  address: "cureAddress",
  discovery: "cureDiscovery",
  issuer: "cureIssuer",
  endpoints: "cureEndpoints",
  keys: "cureKeys",
  algorithm: "cureAlgorithm",
  client: "cureClient",
  scopes: "cureScopes",
  logout: "cureLogout",
} as const;

/** One check; what did not pass says how to repair it. */
function Check({ check: { name, state, detail } }: { readonly check: IdentityCheck }) {
  const t = useTexts();
  const isWrong = state === "failed" || state === "warning";
  return (
    <Box py="1.5" borderTopWidth="1px" borderColor="border.muted">
      <Flex gap="3" wrap="wrap" align="baseline">
        <Mark kind={MARKS[state]} label={t(CHECK_TEXT[name])} />
        {state === "skipped" && (
          <Text as="span" textStyle="xs" color="fg.muted">
            {t("skipped")}
          </Text>
        )}
        {detail !== "" && (
          <Text as="code" textStyle="xs" color="fg.muted" overflowWrap="anywhere">
            {detail}
          </Text>
        )}
      </Flex>
      {isWrong && (
        <Text textStyle="sm" mt="1">
          {t(CURE_TEXT[name])}
        </Text>
      )}
    </Box>
  );
}

/** What the pasted claims give, with the rule that decided. */
function Gifts({ mapping }: { readonly mapping: IdentityProviderTest["mapping"] }) {
  const t = useTexts();
  const { role, role_rule, group, group_rule, is_incomplete } = mapping;
  const roleName = role === "" ? t("noRule") : t(role === "admin" ? "roleAdmin" : "roleUser");
  const lines = [
    [t("givesRole"), roleName, role_rule],
    [t("givesGroup"), group === "" ? t("noRule") : group, group_rule],
  ] as const;
  return (
    <Box mt="3" data-testid="mapping">
      <Heading as="h3" textStyle="sm" mb="1">
        {t("gifts")}
      </Heading>
      {lines.map(([label, value, rule]) => (
        <Text key={label} textStyle="sm">
          {label}: {value}
          {rule > 0 && ` (${t("rule", { n: rule })})`}
        </Text>
      ))}
      {is_incomplete && <Mark kind="caution" label={t("incomplete")} />}
    </Box>
  );
}
