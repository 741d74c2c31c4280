import type { Passkey } from "@fairway/wire";
import { Button, Flex, Spinner, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { canUsePasskeys, isCancelled, isKnownDevice } from "../../lib/passkeys.ts";
import { ask } from "../../ui/ask.ts";
import { LoadFailed } from "../../ui/empty.tsx";
import { TextField } from "../../ui/field.tsx";
import { FormSection } from "../../ui/form-drawer.tsx";
import { Icon } from "../../ui/icon.tsx";
import { toast, toastProblem } from "../../ui/toaster.ts";
import { When } from "../../ui/when.tsx";
import { addPasskey, passkeysQuery, removePasskey } from "./api.ts";
import { useTexts } from "./texts.ts";

const LONGEST_NAME = 64;

/** Devices that sign in without a password. */
export function Passkeys() {
  const t = useTexts();
  const { data, error, refetch } = useQuery(passkeysQuery);
  return (
    <FormSection title={t("passkeys")}>
      <Text textStyle="sm" color="fg.muted">
        {t("passkeysHelp")}
      </Text>
      {error && !data && <LoadFailed problem={error} onRetry={() => void refetch()} />}
      {!error && !data && <Spinner />}
      {data?.map((passkey) => (
        <PasskeyLine key={passkey.id} passkey={passkey} />
      ))}
      {canUsePasskeys() ? <AddPasskey /> : <Text textStyle="sm">{t("passkeysImpossible")}</Text>}
    </FormSection>
  );
}

function PasskeyLine({ passkey }: { readonly passkey: Passkey }) {
  const t = useTexts();
  const name = passkey.name || `#${passkey.id}`;
  const remove = async () => {
    const question = { title: t("removePasskeyTitle", { name }), body: t("removePasskeyBody") };
    if (!(await ask({ ...question, confirm: t("removePasskey"), isDangerous: true }))) return;
    await removePasskey(passkey.id).then(() => toast("success", t("passkeyRemoved", { name })), toastProblem);
  };
  return (
    <Flex align="center" gap="3" wrap="wrap">
      <Icon name="key" />
      <Text textStyle="sm" fontWeight="medium" overflowWrap="anywhere">
        {name}
      </Text>
      <Text textStyle="sm" color="fg.muted" flex="1" minW="12rem">
        {t("passkeyMade")} <When at={passkey.created_at} /> ·{" "}
        {passkey.last_used_at === 0 ? (
          t("passkeyUnused")
        ) : (
          <>
            {t("passkeyUsed")} <When at={passkey.last_used_at} />
          </>
        )}
      </Text>
      <Button size="xs" variant="outline" aria-label={`${t("removePasskey")}: ${name}`} onClick={() => void remove()}>
        {t("removePasskey")}
      </Button>
    </Flex>
  );
}

function AddPasskey() {
  const t = useTexts();
  const [name, setName] = useState("");
  const [isAdding, setAdding] = useState(false);
  const add = async (event: FormEvent) => {
    event.preventDefault();
    setAdding(true);
    try {
      await addPasskey(name.trim());
      setName("");
      toast("success", t("passkeyAdded"));
    } catch (problem) {
      if (isCancelled(problem)) toast("error", t("passkeyCancelled"));
      else if (isKnownDevice(problem)) toast("error", t("passkeyKnown"));
      else toastProblem(problem);
    } finally {
      setAdding(false);
    }
  };
  return (
    <form noValidate onSubmit={(event) => void add(event)}>
      <Flex gap="3" align="flex-end" wrap="wrap">
        <Flex flex="1" minW="200px" maxW="380px">
          <TextField
            label={t("passkeyName")}
            placeholder={t("passkeyNameHint")}
            value={name}
            onChange={(text) => setName(text.slice(0, LONGEST_NAME))}
          />
        </Flex>
        <Button type="submit" size="sm" variant="outline" loading={isAdding}>
          {t("addPasskey")}
        </Button>
      </Flex>
    </form>
  );
}
