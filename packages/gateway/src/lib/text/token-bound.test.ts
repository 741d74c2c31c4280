import fc from "fast-check";
import { countTokens as cl100k } from "gpt-tokenizer/encoding/cl100k_base";
import { countTokens as o200k } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, it } from "vitest";
import { joinedTokenBound, promptTokenBound } from "./token-bound.ts";

/** Returns deterministic bytes without a pattern that an encoder knows. */
function noise(length: number): number[] {
  let state = 12345;
  return Array.from({ length }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state >>> 16;
  });
}

/** Samples; for names of languages, the first article of the Universal Declaration of Human Rights. */
const FIXTURES: Readonly<Record<string, string>> = {
  English:
    "All human beings are born free and equal in dignity and rights. They are endowed with reason and conscience and should act towards one another in a spirit of brotherhood. Everyone is entitled to all the rights and freedoms set forth in this Declaration, without distinction of any kind, such as race, colour, sex, language, religion.",
  German:
    "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft und Gewissen begabt und sollen einander im Geiste der Brüderlichkeit begegnen.",
  French:
    "Tous les êtres humains naissent libres et égaux en dignité et en droits. Ils sont doués de raison et de conscience et doivent agir les uns envers les autres dans un esprit de fraternité.",
  Vietnamese:
    "Tất cả mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm và quyền. Mọi con người đều được tạo hoá ban cho lý trí và lương tâm và cần phải đối xử với nhau trong tình bằng hữu.",
  Polish:
    "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw. Są oni obdarzeni rozumem i sumieniem i powinni postępować wobec innych w duchu braterstwa.",
  Russian:
    "Все люди рождаются свободными и равными в своем достоинстве и правах. Они наделены разумом и совестью и должны поступать в отношении друг друга в духе братства.",
  Greek:
    "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα. Είναι προικισμένοι με λογική και συνείδηση, και οφείλουν να συμπεριφέρονται μεταξύ τους με πνεύμα αδελφοσύνης.",
  Hebrew:
    "כל בני אדם נולדו בני חורין ושווים בערכם ובזכויותיהם. כולם חוננו בתבונה ובמצפון, לפיכך חובה עליהם לנהוג איש ברעהו ברוח של אחווה.",
  Arabic:
    "يولد جميع الناس أحرارا متساوين في الكرامة والحقوق. وقد وهبوا عقلا وضميرا وعليهم أن يعامل بعضهم بعضا بروح الإخاء.",
  Persian:
    "تمام افراد بشر آزاد به دنیا می‌آیند و از لحاظ حیثیت و حقوق با هم برابرند. همه دارای عقل و وجدان هستند و باید نسبت به یکدیگر با روح برادری رفتار کنند.",
  Hindi:
    "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है। उन्हें बुद्धि और अन्तरात्मा की देन प्राप्त है और परस्पर उन्हें भाईचारे के भाव से बर्ताव करना चाहिए।",
  Bengali:
    "সমস্ত মানুষ স্বাধীনভাবে সমান মর্যাদা এবং অধিকার নিয়ে জন্মগ্রহণ করে। তাঁদের বিবেক এবং বুদ্ধি আছে; সুতরাং সকলেরই একে অপরের প্রতি ভ্রাতৃত্বসুলভ মনোভাব নিয়ে আচরণ করা উচিৎ।",
  Tamil:
    "மனிதப் பிறிவியினர் சகலரும் சுதந்திரமாகவே பிறக்கின்றனர்; அவர்கள் மதிப்பிலும், உரிமைகளிலும் சமமானவர்கள், அவர்கள் நியாயத்தையும் மனச்சாட்சியையும் இயற்பண்பாகப் பெற்றவர்கள்.",
  Thai: "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ ต่างมีเหตุผลและมโนธรรม และควรปฏิบัติต่อกันด้วยเจตนารมณ์แห่งภราดรภาพ",
  Georgian:
    "ყველა ადამიანი იბადება თავისუფალი და თანასწორი თავისი ღირსებითა და უფლებებით. მათ მინიჭებული აქვთ გონება და სინდისი და ერთმანეთის მიმართ უნდა იქცეოდნენ ძმობის სულისკვეთებით.",
  Armenian:
    "Բոլոր մարդիկ ծնվում են ազատ ու հավասար իրենց արժանապատվությամբ ու իրավունքներով։ Նրանք ունեն բանականություն ու խիղճ և միմյանց պետք է եղբայրաբար վերաբերվեն։",
  Amharic: "የሰው ልጅ ሁሉ ሲወለድ ነጻና በክብርና በመብትም እኩልነት ያለው ነው። የተፈጥሮ ማስተዋልና ሕሊና ስላለው አንዱ ሌላውን በወንድማማችነት መንፈስ መመልከት ይገባዋል።",
  Burmese: "လူတိုင်းသည် တူညီ လွတ်လပ်သော ဂုဏ်သိက္ခာဖြင့် လည်းကောင်း၊ တူညီလွတ်လပ်သော အခွင့်အရေးများဖြင့် လည်းကောင်း၊ မွေးဖွားလာသူများ ဖြစ်သည်။",
  Khmer: "មនុស្សទាំងអស់ កើតមកមានសេរីភាព និងសមភាព ក្នុងផ្នែកសេចក្ដីថ្លៃថ្នូរនិងសិទ្ធិ។ មនុស្ស មានវិចារណញ្ញាណនិងសតិសម្បជញ្ញៈជាប់ពីកំណើត",
  Korean:
    "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. 인간은 천부적으로 이성과 양심을 부여받았으며 서로 형제애의 정신으로 행동하여야 한다.",
  Japanese:
    "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。人間は、理性と良心とを授けられており、互いに同胞の精神をもって行動しなければならない。",
  "Chinese, simplified":
    "人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心，并应以兄弟关系的精神相对待。人人有资格享有本宣言所载的一切权利和自由，不分种族、肤色、性别、语言、宗教、政治或其他见解。",
  "Chinese, traditional": "人人生而自由，在尊嚴和權利上一律平等。他們賦有理性和良心，並應以兄弟關係的精神相對待。",
  pictures: "😀🎉👩‍👩‍👧‍👦🏳️‍🌈🚀✨🔥💯🙏🏽👍🏿❤️🥰😂🤣😭🇩🇪🇫🇷🇯🇵🧑‍💻",
  TypeScript: `export function mean(values: readonly number[]): number {\n  let sum = 0;\n  for (const value of values) sum += value;\n  return values.length === 0 ? 0 : sum / values.length;\n}\n`,
  Python: `import os, re\n\ndef walk(root):\n    for base, dirs, files in os.walk(root):\n        for name in files:\n            if re.match(r'^[a-z]+\\.py$', name):\n                yield os.path.join(base, name)\n`,
  JSON: JSON.stringify({
    id: "chatcmpl-1",
    created: 1700000000,
    choices: [{ index: 0, message: { role: "assistant", content: "Hello" } }],
  }),
  "JSON, indented": JSON.stringify({ name: "x", values: [1, 2, 3], nested: { isOn: true, none: null } }, null, 2),
  CSV: noise(80)
    .map((value, row) => `${row},2026-11-${10 + (value % 20)},${(value / 100).toFixed(2)}`)
    .join("\n"),
  numbers: noise(200).join(" "),
  hex: noise(400)
    .map((value) => value.toString(16))
    .join(""),
  base64: Buffer.from(noise(900)).toString("base64"),
  identifiers: noise(40)
    .map((value) => `${value.toString(16)}-${(value * 7).toString(16)}-4a-${value}`)
    .join("\n"),
  capitals: "THE QUICK BROWN FOX JUMPS OVER THE LAZY DOG AND RUNS AWAY INTO THE DEEP DARK FOREST",
  marks: "!@#$%^&*()_+-=[]{}|;':\",./<>?~` <> && || ?? => -> :: ## ** // ++ -- == !== <= >= ",
  HTML: `<div class="card" id="a1"><h2>Title</h2><p>Some <b>bold</b> text &amp; more.</p><a href="https://example.com/a?b=1&c=2">link</a></div>`,
  addresses:
    "https://www.example.com/path/to/resource?query=value&other=123#fragment https://sub.domain.co.uk/x/y/z.html",
  mathematics: "∀x∈ℝ: x²≥0 ∧ ∑_{i=1}^{n} i = n(n+1)/2 ⇒ ∫₀^∞ e^{-x²} dx = √π/2 ≈ 0.8862; α≠β, γ→∞, ∂f/∂x",
  "Markdown table": "| a | b | c |\n|---|---|---|\n| 1 | 2 | 3 |\n| 4 | 5 | 6 |\n".repeat(5),
  "white space": "a    b        c\n\n\n\n   d\t\t\te\n".repeat(10),
  "random ASCII": noise(600)
    .map((value) => String.fromCharCode(33 + (value % 94)))
    .join(""),
};

function countMaxTokens(text: string): number {
  const options = { disallowedSpecial: new Set<string>() };
  return Math.max(o200k(text, options), cl100k(text, options));
}

describe("the bound on the tokens of a text", () => {
  it.each(Object.entries(FIXTURES))("holds for %s", (_, text) => {
    for (const sample of [text, text.slice(0, 20), `${text}\n`.repeat(40)]) {
      expect(promptTokenBound(sample)).toBeGreaterThanOrEqual(countMaxTokens(sample));
    }
  });

  it.each(Object.entries(FIXTURES))("does not reserve far too much for %s", (_, text) => {
    expect(promptTokenBound(text)).toBeLessThan(2.4 * countMaxTokens(text) + 2);
  });

  it("holds for mixtures", () => {
    const part = fc.tuple(fc.constantFrom(...Object.values(FIXTURES)), fc.integer({ min: 1, max: 12 }));
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 6 }), (parts) => {
        const text = parts.map(([fixture, times]) => `${fixture} `.repeat(times)).join("");
        expect(promptTokenBound(text)).toBeGreaterThanOrEqual(countMaxTokens(text));
      }),
      { numRuns: 150, seed: 20261121 },
    );
  });

  it("is 0 or 1 for next to nothing and takes no longer for a book", () => {
    expect(promptTokenBound("")).toBe(0);
    const book = "It was a bright cold day in April, and the clocks were striking thirteen. ".repeat(40_000);
    promptTokenBound(book);
    const before = process.cpuUsage();
    for (let round = 0; round < 100; round += 1) promptTokenBound(book);
    // Measures CPU time, which load on the machine does not increase.
    expect(process.cpuUsage(before).user / 1_000 / 100).toBeLessThan(1);
  });
});

it("is the same for a text in pieces, wherever it is cut", () => {
  const piece = fc.oneof(
    fc.string({ unit: "binary", maxLength: 900 }),
    fc.constantFrom("", "\ud83d", "\ude00", "word "),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 5 }), (pieces) => {
      expect(joinedTokenBound(pieces)).toBe(promptTokenBound(pieces.join("")));
    }),
  );
});
