import { selfUpdate } from "@fairway/wire";
import { Box, Button, Dialog, Flex, Portal, Text } from "@chakra-ui/react";
import { useId, type FormEvent } from "react";
import { call } from "../../lib/http.ts";
import { useForm } from "../../lib/use-form.ts";
import { SecretField } from "../../ui/field.tsx";
import { Icon } from "../../ui/icon.tsx";
import { toast, toastProblem } from "../../ui/toaster.ts";
import { useTexts } from "../texts.ts";
import { hasDefaultPassword } from "./session.ts";

const SHORTEST = 8;
const EMPTY = { password: "", repeated: "" };

/** Stands in the way after signing in with the password of a new installation, and lets it be changed on the spot. */
export function DefaultPasswordWarning() {
  const t = useTexts();
  const id = useId();
  const form = useForm({
    initial: EMPTY,
    check: ({ password, repeated }) => ({
      ...(password.length < SHORTEST && { password: t("passwordShort") }),
      ...(password !== repeated && { repeated: t("passwordDiffer") }),
    }),
    save: async ({ password }) => {
      await call(selfUpdate, { body: { password } });
    },
    onProblem: toastProblem,
  });

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (!(await form.submit())) return;
    hasDefaultPassword.write(false);
    toast("success", t("passwordChanged"));
  }

  return (
    <Dialog.Root
      open
      role="alertdialog"
      closeOnInteractOutside={false}
      closeOnEscape={false}
      placement="center"
      size="sm"
    >
      <Portal>
        <Dialog.Backdrop />
        <Dialog.Positioner px="4">
          <Dialog.Content>
            <Dialog.Header>
              <Flex gap="3" align="center">
                <Box color="fg.warning">
                  <Icon name="warning" size={22} />
                </Box>
                <Dialog.Title>{t("defaultTitle")}</Dialog.Title>
              </Flex>
            </Dialog.Header>
            <Dialog.Body>
              <Text mb="4">{t("defaultBody")}</Text>
              <form id={id} noValidate onSubmit={(event) => void submit(event)}>
                <Flex direction="column" gap="3">
                  <SecretField
                    label={t("newPassword")}
                    value={form.values.password}
                    error={form.errors.password}
                    autoComplete="new-password"
                    onChange={(value) => form.set("password", value)}
                  />
                  <SecretField
                    label={t("repeatPassword")}
                    value={form.values.repeated}
                    error={form.errors.repeated}
                    autoComplete="new-password"
                    onChange={(value) => form.set("repeated", value)}
                  />
                </Flex>
              </form>
            </Dialog.Body>
            <Dialog.Footer>
              <Button variant="outline" onClick={() => hasDefaultPassword.write(false)}>
                {t("later")}
              </Button>
              <Button type="submit" form={id} loading={form.isSaving}>
                {t("changeNow")}
              </Button>
            </Dialog.Footer>
          </Dialog.Content>
        </Dialog.Positioner>
      </Portal>
    </Dialog.Root>
  );
}
