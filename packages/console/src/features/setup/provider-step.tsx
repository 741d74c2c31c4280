import type { ChannelType } from "@fairway/wire";
import { Box, Button, Flex, SimpleGrid, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { Link } from "react-router";
import { exampleModel } from "../../shared/connect/snippets.ts";
import { getRole, useUser } from "../../session/session.ts";
import { problemText, toastProblem } from "../../ui/feedback/toaster.ts";
import { SecretField, SelectField, TextField } from "../../ui/form/field.tsx";
import { probe, readOffer, typesQuery } from "./api.ts";
import { Connected, type Connection } from "./connected.tsx";
import { channelInput, preselected, findTypeByKey, type ProviderDraft } from "./provider.ts";
import { LocalServers } from "./local-servers.tsx";
import { useTexts } from "./texts.ts";

const FIRST_TYPE = "1";
const EMPTY: ProviderDraft = { type: FIRST_TYPE, key: "", base_url: "" };

/** Reads the models of the upstream and tests one of them. */
function useConnection() {
  const role = getRole(useUser());
  const [connection, setConnection] = useState<Connection>();
  const [failure, setFailure] = useState<string>();
  const [isBusy, setBusy] = useState(false);

  async function connect(type: ChannelType, draft: ProviderDraft): Promise<void> {
    setBusy(true);
    setFailure(undefined);
    setConnection(undefined);
    try {
      const models = await readOffer(type, draft, role);
      const names = [...preselected(models)];
      const model = exampleModel(names);
      const input = channelInput(draft, type.label, names);
      const tried = type.can_test && model !== undefined ? await probe(input, model) : undefined;
      setConnection({ type, draft, models, probe: tried });
    } catch (problem) {
      setFailure(problemText(problem));
    } finally {
      setBusy(false);
    }
  }

  async function tryAgain(model: string): Promise<void> {
    if (!connection) return;
    setBusy(true);
    try {
      const input = channelInput(connection.draft, connection.type.label, [model]);
      setConnection({ ...connection, probe: await probe(input, model) });
    } catch (problem) {
      toastProblem(problem);
    } finally {
      setBusy(false);
    }
  }

  return { connection, failure, isBusy, connect, tryAgain, forget: () => setConnection(undefined) };
}

/** Takes a provider key, shows its models and creates a channel from them. */
export function ProviderStep(props: { onDone(): void }) {
  const t = useTexts();
  const types = useQuery(typesQuery).data ?? [];
  const [draft, setDraft] = useState(EMPTY);
  const [isTypeChosen, setTypeChosen] = useState(false);
  const { connection, failure, isBusy, connect, tryAgain, forget } = useConnection();
  const type = types.find((entry) => String(entry.type) === draft.type);
  const recognised = isTypeChosen ? undefined : findTypeByKey(draft.key, types);
  const isAddressNeeded = type?.needs_base_url ?? false;
  const change = (part: Partial<ProviderDraft>) => {
    setDraft({ ...draft, ...part });
    forget();
  };
  const changeKey = (key: string) => {
    const found = isTypeChosen ? undefined : findTypeByKey(key, types);
    change({ key, ...(found ? { type: String(found.type) } : {}) });
  };
  const isReady = type !== undefined && draft.key.trim() !== "" && !(isAddressNeeded && draft.base_url.trim() === "");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isReady) void connect(type, draft);
  };
  return (
    <Box>
      <Text color="fg.muted" mb="4">
        {t("providerBody")}
      </Text>
      <LocalServers
        types={types}
        isBusy={isBusy}
        onChoose={(local, found) => {
          setTypeChosen(true);
          setDraft(found);
          void connect(local, found);
        }}
      />
      <form noValidate onSubmit={submit}>
        <SimpleGrid columns={{ base: 1, md: 2 }} gap="4">
          <SecretField
            label={t("providerKey")}
            isMono
            placeholder={type?.key_hint ?? ""}
            help={recognised ? t("recognised", { type: recognised.label }) : t("keyHelp")}
            value={draft.key}
            onChange={changeKey}
          />
          <SelectField
            label={t("provider")}
            value={draft.type}
            choices={types
              .filter(({ retired }) => !retired)
              .map((entry) => ({ value: String(entry.type), label: entry.label }))}
            onChange={(value) => {
              setTypeChosen(true);
              change({ type: value });
            }}
          />
          <TextField
            label={t("address")}
            isMono
            isRequired={isAddressNeeded}
            placeholder={type?.base_url || "https://…"}
            help={t(isAddressNeeded ? "addressNeeded" : "addressHelp")}
            value={draft.base_url}
            onChange={(base_url) => change({ base_url })}
          />
        </SimpleGrid>
        <Flex mt="4" gap="4" align="center" wrap="wrap">
          <Button type="submit" variant={connection ? "outline" : "solid"} disabled={!isReady} loading={isBusy}>
            {t("connect")}
          </Button>
          <Link className="link" to="/channel/add">
            {t("allFields")}
          </Link>
        </Flex>
      </form>
      <Box role="status" mt={isBusy || failure ? "3" : "0"}>
        {isBusy && <Text color="fg.muted">{t("connecting")}</Text>}
        {failure !== undefined && (
          <Text color="fg.error" overflowWrap="anywhere">
            {failure}
          </Text>
        )}
      </Box>
      {connection && <Connected connection={connection} isBusy={isBusy} onTry={tryAgain} onDone={props.onDone} />}
    </Box>
  );
}
