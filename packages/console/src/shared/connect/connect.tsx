import { splitList, type Token } from "@fairway/wire";
import { Box, Button, Flex, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { modelsQuery } from "../../session/models.ts";
import { useStatus } from "../../session/status.ts";
import { CodeTabs } from "../../ui/content/code-tabs.tsx";
import { baseAddress, maskKey } from "../../ui/content/connection.ts";
import { CopyButton } from "../../ui/content/copy-button.tsx";
import { SelectField } from "../../ui/form/field.tsx";
import { exampleModel, snippetsFor } from "./snippets.ts";
import { TestRequest } from "./test-request.tsx";
import { useTexts } from "./texts.ts";

/** The model in the examples if the caller has none. */
const PLACEHOLDER_MODEL = "gpt-4o-mini";

function useModels(token: Token): readonly string[] {
  const all = useQuery(modelsQuery).data ?? [];
  return token.model_limits_enabled ? splitList(token.model_limits) : all;
}

interface ConnectProps {
  readonly token: Token;
  /** True if its first button is the next step of the page. */
  readonly isPrimary?: boolean;
  /** The team whose key it is. */
  readonly teamId?: number;
  /** Called when the row of a test request is in the log. */
  onArrived?(): void;
}

/** Shows how applications use a token: address, key, examples by client, and a request to try. */
export function Connect({ token, isPrimary = false, teamId, onArrived }: ConnectProps) {
  const t = useTexts();
  const { server_address: server } = useStatus();
  const models = useModels(token);
  const [chosen, setChosen] = useState<string>();
  const [isKeyShown, setKeyShown] = useState(false);
  const model = chosen !== undefined && models.includes(chosen) ? chosen : exampleModel(models);
  const key = `sk-${token.key}`;
  const base = baseAddress(server);
  const shown = { base, model: model ?? PLACEHOLDER_MODEL, key: isKeyShown ? key : maskKey(token.key) };
  return (
    <Flex direction="column" gap="4">
      <Flex gap="4" wrap="wrap" align="flex-start">
        <Box flex="1" minW="56">
          <Text textStyle="sm" fontWeight="medium" mb="1.5">
            {t("baseUrl")}
          </Text>
          <Flex align="center" gap="1" h="9">
            <Text fontFamily="mono" textStyle="sm" overflowWrap="anywhere">
              {base}
            </Text>
            <CopyButton text={base} label={t("baseUrl")} />
          </Flex>
        </Box>
        <Box flex="1" minW="56">
          <Text textStyle="sm" fontWeight="medium" mb="1.5">
            {t("key")}
          </Text>
          <Flex align="center" gap="1" minH="9">
            <Text fontFamily="mono" textStyle="sm" overflowWrap="anywhere">
              {shown.key}
            </Text>
            <CopyButton text={key} label={t("key")} />
            <Button size="xs" variant="ghost" onClick={() => setKeyShown(!isKeyShown)}>
              {t(isKeyShown ? "hideKey" : "putKey")}
            </Button>
          </Flex>
        </Box>
        {models.length > 1 && (
          <Box flex="1" minW="56">
            <SelectField
              label={t("model")}
              value={shown.model}
              choices={models.map((name) => ({ value: name, label: name }))}
              onChange={setChosen}
            />
          </Box>
        )}
      </Flex>
      <CodeTabs label={t("examples")} copyLabel={t("copySnippet")} snippets={snippetsFor(shown, key)} />
      <TestRequest
        token={token}
        model={model}
        isPrimary={isPrimary}
        teamId={teamId}
        {...(onArrived ? { onArrived } : {})}
      />
    </Flex>
  );
}
