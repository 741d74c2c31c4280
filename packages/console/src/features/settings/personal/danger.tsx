import { ROLE, selfDelete, type User } from "@fairway/wire";
import { Button, Flex, Text } from "@chakra-ui/react";
import { useState, type FormEvent } from "react";
import { useNavigate } from "react-router";
import { forgetUser } from "../../../session/session.ts";
import { callLast } from "../../../lib/http.ts";
import { TextField } from "../../../ui/form/field.tsx";
import { FormSection } from "../../../ui/form/form-drawer.tsx";
import { useTexts as useUiTexts } from "../../../ui/texts.ts";
import { toast, toastProblem } from "../../../ui/feedback/toaster.ts";
import { useTexts } from "../texts.ts";

/** Deletes the user's own account after its name was typed. The super administrator's account cannot be deleted. */
export function Danger({ self }: { readonly self: User }) {
  const t = useTexts();
  const [isOpen, setOpen] = useState(false);
  if (self.role >= ROLE.root) return null;
  return (
    <FormSection title={t("danger")}>
      <Text textStyle="sm" color="fg.muted">
        {t("dangerHelp")}
      </Text>
      {isOpen ? (
        <DeleteForm username={self.username} onCancel={() => setOpen(false)} />
      ) : (
        <Flex>
          <Button size="sm" variant="outline" color="fg.error" onClick={() => setOpen(true)}>
            {t("deleteAccount")}
          </Button>
        </Flex>
      )}
    </FormSection>
  );
}

function DeleteForm(props: { readonly username: string; onCancel(): void }) {
  const t = useTexts();
  const ui = useUiTexts();
  const navigate = useNavigate();
  const [name, setName] = useState("");
  const [error, setError] = useState<string>();
  const [isSending, setSending] = useState(false);
  const remove = async (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() !== props.username) return setError(t("deleteNameWrong"));
    setSending(true);
    try {
      await callLast(selfDelete, {}, forgetUser);
      toast("success", t("accountDeleted"));
      void navigate("/login");
    } catch (problem) {
      toastProblem(problem);
      setSending(false);
    }
  };
  return (
    <form noValidate autoComplete="off" onSubmit={(event) => void remove(event)}>
      <Flex direction="column" gap="3" maxW="380px">
        <TextField
          label={t("deleteName")}
          value={name}
          error={error}
          onChange={(text) => {
            setName(text);
            setError(undefined);
          }}
        />
        <Flex gap="2">
          <Button type="submit" size="sm" colorPalette="port" loading={isSending}>
            {t("deleteAccount")}
          </Button>
          <Button size="sm" variant="outline" onClick={props.onCancel}>
            {ui("cancel")}
          </Button>
        </Flex>
      </Flex>
    </form>
  );
}
