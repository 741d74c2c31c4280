import { Box, Button, Flex, Input, Text } from "@chakra-ui/react";
import { useState } from "react";
import { dollars, formatCount } from "../../lib/format.ts";
import { useLanguage } from "../../lib/i18n.ts";
import { Mark } from "../../ui/display/mark.tsx";
import { toDollars, type OfferedModel } from "./provider.ts";
import "./setup.css";
import { useTexts } from "./texts.ts";

function OfferedPrice({ model }: { readonly model: OfferedModel }) {
  const t = useTexts();
  const language = useLanguage();
  if (model.price === undefined) return null;
  if (model.price === null) return <Mark kind="caution" label={t("noPrice")} />;
  const price = toDollars(model.price);
  if ("call" in price) return <span className="soft">{t("perCall", { price: dollars(price.call, language) })}</span>;
  const { input, output } = price;
  return (
    <span className="soft">
      {t("perMillion", { input: dollars(input, language), output: dollars(output, language) })}
    </span>
  );
}

/** The models of an upstream with their prices, to choose from. */
export function Offer(props: {
  readonly models: readonly OfferedModel[];
  readonly chosen: ReadonlySet<string>;
  onChange(chosen: ReadonlySet<string>): void;
}) {
  const t = useTexts();
  const language = useLanguage();
  const [find, setFind] = useState("");
  const { models, chosen } = props;
  const shown = models.filter(({ name }) => name.toLowerCase().includes(find.trim().toLowerCase()));
  const unpriced = models.filter(({ price }) => price === null).length;
  const toggle = (name: string) => {
    const next = new Set(chosen);
    if (!next.delete(name)) next.add(name);
    props.onChange(next);
  };
  const setShown = (isOn: boolean) => {
    const names = shown.map(({ name }) => name);
    props.onChange(new Set(isOn ? [...chosen, ...names] : [...chosen].filter((name) => !names.includes(name))));
  };
  const count = (value: number) => formatCount(value, language);
  return (
    <Box role="group" aria-label={t("models")}>
      <Flex align="center" gap="2" wrap="wrap" mb="2">
        <Text fontWeight="medium" flex="1" minW="40">
          {t("chosenModels", { count: count(chosen.size), all: count(models.length) })}
        </Text>
        {models.length > 8 && (
          <Input
            size="sm"
            width={{ base: "full", sm: "48" }}
            type="search"
            aria-label={t("findModel")}
            placeholder={t("findModel")}
            value={find}
            onChange={(event) => setFind(event.target.value)}
          />
        )}
        <Button size="xs" variant="outline" onClick={() => setShown(true)}>
          {t("all")}
        </Button>
        <Button size="xs" variant="outline" onClick={() => setShown(false)}>
          {t("none")}
        </Button>
      </Flex>
      <ul className="offer" tabIndex={-1}>
        {shown.map((model) => (
          <li key={model.name}>
            <label>
              <input type="checkbox" checked={chosen.has(model.name)} onChange={() => toggle(model.name)} />
              <span className="offer-name">{model.name}</span>
              <OfferedPrice model={model} />
            </label>
          </li>
        ))}
      </ul>
      {unpriced > 0 && (
        <Text textStyle="sm" color="fg.muted" mt="2">
          {t("unpricedHelp", { count: count(unpriced) })}
        </Text>
      )}
    </Box>
  );
}
