import { PASSKEY_NAME_MAX, type Passkey } from "@fairway/wire";
import { Button, Flex, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState, type FormEvent } from "react";
import { canUsePasskeys, isCancelled, isKnownDevice } from "../../../lib/passkeys.ts";
import { ask } from "../../../ui/feedback/ask.ts";
import { LoadFailed, Loading } from "../../../ui/feedback/empty.tsx";
import { TextField } from "../../../ui/form/field.tsx";
import { FormSection } from "../../../ui/form/form-drawer.tsx";
import { Icon } from "../../../ui/display/icon.tsx";
import { useTexts as useUiTexts } from "../../../ui/texts.ts";
import { toast, toastProblem } from "../../../ui/feedback/toaster.ts";
import { When } from "../../../ui/display/when.tsx";
import { addPasskey, passkeysQuery, removePasskey, renamePasskey } from "../api.ts";
import { useTexts } from "../texts.ts";

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
      {!error && !data && <Loading />}
      {data?.map((passkey) => (
        <PasskeyLine key={passkey.id} passkey={passkey} />
      ))}
      {canUsePasskeys() ? <AddPasskey /> : <Text textStyle="sm">{t("passkeysImpossible")}</Text>}
    </FormSection>
  );
}

function PasskeyLine({ passkey }: { readonly passkey: Passkey }) {
  const t = useTexts();
  const [isRenaming, setRenaming] = useState(false);
  const name = passkey.name || `#${passkey.id}`;
  const remove = async () => {
    const question = { title: t("removePasskeyTitle", { name }), body: t("removePasskeyBody") };
    if (!(await ask({ ...question, confirm: t("removePasskey"), isDangerous: true }))) return;
    await removePasskey(passkey.id).then(() => toast("success", t("passkeyRemoved", { name })), toastProblem);
  };
  if (isRenaming) return <RenamePasskey passkey={passkey} onDone={() => setRenaming(false)} />;
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
      <Button
        size="xs"
        variant="outline"
        aria-label={`${t("renamePasskey")}: ${name}`}
        onClick={() => setRenaming(true)}
      >
        {t("renamePasskey")}
      </Button>
      <Button size="xs" variant="outline" aria-label={`${t("removePasskey")}: ${name}`} onClick={() => void remove()}>
        {t("removePasskey")}
      </Button>
    </Flex>
  );
}

function RenamePasskey({ passkey, onDone }: { readonly passkey: Passkey; onDone(): void }) {
  const t = useTexts();
  const ui = useUiTexts();
  const box = useRef<HTMLFormElement>(null);
  const [name, setName] = useState(passkey.name);
  useEffect(() => box.current?.querySelector("input")?.select(), []);
  const save = (event: FormEvent) => {
    event.preventDefault();
    void renamePasskey(passkey.id, name.trim()).then(onDone, toastProblem);
  };
  return (
    <form noValidate ref={box} onSubmit={save} onKeyDown={(event) => event.key === "Escape" && onDone()}>
      <Flex gap="2" align="flex-end" wrap="wrap">
        <Flex flex="1" minW="200px" maxW="380px">
          <TextField
            label={t("newPasskeyName")}
            value={name}
            onChange={(text) => setName(text.slice(0, PASSKEY_NAME_MAX))}
          />
        </Flex>
        <Button type="submit" size="sm">
          {ui("save")}
        </Button>
        <Button size="sm" variant="outline" onClick={onDone}>
          {ui("cancel")}
        </Button>
      </Flex>
    </form>
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
            onChange={(text) => setName(text.slice(0, PASSKEY_NAME_MAX))}
          />
        </Flex>
        <Button type="submit" size="sm" variant="outline" loading={isAdding}>
          {t("addPasskey")}
        </Button>
      </Flex>
    </form>
  );
}
