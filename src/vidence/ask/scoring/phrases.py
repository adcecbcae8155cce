"""How languages say "the answer is", "option", "I choose": the words behind the rules of `claims`.

Every entry is a regular expression without groups of its own, to be matched without regard to case. A
language is added by an entry here; no rule changes.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Language:
    """The words of one language.

    `answer` is what a reply calls its answer, with its adjectives; `option` what it calls a choice;
    `is_` what joins them to a letter. `choose` and `it_is` stand before a letter that is chosen or
    named; `chosen` and `right` behind one that is chosen or said to be right. `tail` may cling to one.
    """

    answer: str
    option: str
    is_: str
    choose: str
    right: str
    chosen: str = ""
    it_is: str = ""
    tail: str = ""


LANGUAGES = {
    "de": Language(
        answer=r"(?:(?:richtige|korrekte|beste|finale)[nrs]?\s+)?(?:antwort(?:möglichkeit|option)?|lösung|option)",
        option=r"(?:(?:die|der|das)\s+)?(?:antwort(?:möglichkeit)?|option|buchstabe|möglichkeit)",
        is_=r"(?:ist(?:\s+(?:also|daher|somit))?|lautet|wäre|muss)",
        choose=r"ich\s+(?:wähle|nehme|tippe\s+auf|entscheide\s+mich\s+für)",
        right=r"ist\s+(?:die\s+)?(?:richtig|korrekt)(?:e|en)?(?:\s+(?:antwort|option))?",
        chosen=r"\s+(?:wählen|nehmen)\b",
        it_is=r"es\s+ist",
    ),
    "fr": Language(
        answer=r"(?:(?:bonne|meilleure)\s+)?(?:r[ée]ponse|option)(?:\s+(?:correcte|finale|exacte|juste))?",
        option=r"(?:la\s+|l')?(?:option|r[ée]ponse|lettre|proposition)",
        is_=r"(?:est(?:\s+donc)?|serait)",
        choose=r"(?:je\s+(?:choisis|sélectionne|dirais|réponds)|c'est\s+(?:donc\s+)?(?:la\s+)?(?:r[ée]ponse|l'option))",
        right=r"est\s+(?:la\s+)?(?:bonne|correcte|exacte|juste)(?:\s+(?:r[ée]ponse|option))?",
        it_is=r"c'est",
    ),
    "es": Language(
        answer=r"(?:respuesta|opci[óo]n|alternativa)(?:\s+(?:correcta|final|adecuada|más\s+probable))?",
        option=r"(?:la\s+)?(?:opci[óo]n|respuesta|letra|alternativa)",
        is_=r"(?:es|sería|debe\s+ser)",
        choose=r"(?:(?:yo\s+)?(?:elijo|escojo|selecciono|elegiría)|me\s+quedo\s+con|diría\s+que\s+es)",
        right=r"es\s+(?:la\s+)?(?:(?:respuesta|opci[óo]n)\s+)?(?:correcta|adecuada)",
        it_is=r"es",
    ),
    "pt": Language(
        answer=r"(?:resposta|opç[ãa]o|alternativa)(?:\s+(?:correta|certa|final))?",
        option=r"(?:a\s+)?(?:opç[ãa]o|resposta|letra|alternativa)",
        is_=r"(?:é|seria|deve\s+ser)",
        choose=r"(?:(?:eu\s+)?(?:escolho|seleciono|escolheria)|fico\s+com)",
        right=r"é\s+(?:a\s+)?(?:(?:resposta|opç[ãa]o)\s+)?(?:correta|certa)",
        it_is=r"é",
    ),
    "it": Language(
        answer=r"(?:risposta|opzione)(?:\s+(?:corretta|giusta|finale|esatta))?",
        option=r"(?:la\s+|l')?(?:opzione|risposta|lettera)",
        is_=r"(?:è|sarebbe)",
        choose=r"(?:scelgo|seleziono)",
        right=r"è\s+(?:(?:la|quella)\s+)?(?:(?:risposta|opzione)\s+)?(?:corretta|giusta|esatta)",
    ),
    "ru": Language(
        answer=r"(?:(?:правильный|верный|мой|окончательный)\s+)?(?:ответ|вариант)(?:\s+ответа)?",
        option=r"(?:вариант|ответ|буква)(?:\s+ответа)?",
        is_=r"(?:-+|это|является|будет)",
        choose=r"(?:(?:я\s+)?(?:выбираю|выберу|выбрал[аи]?))",
        right=r"(?:-+\s*)?(?:(?:является\s+)?(?:правильн|верн)\w+|верен|правилен)",
        it_is=r"это",
    ),
    "ar": Language(
        answer=r"(?:الإجابة|الاجابة|الجواب|الخيار|إجابتي)(?:\s+(?:الصحيحة|الصحيح|النهائية|النهائي|الأصح))?",
        option=r"(?:الخيار|الإجابة|الاجابة|الحرف)",
        is_=r"(?:هي|هو)",
        choose=r"(?:سأختار|أختار|اخترت|نختار)",
        right=r"(?:هو\s+|هي\s+)?(?:الصحيح|صحيح|الأصح)ة?",
    ),
    "zh": Language(
        answer=r"(?:(?:正确|正確|最终|最終|最佳|最合适)的?\s*)?(?:答案|选项|選項)",
        option=r"(?:选项|選項|答案|选|選)",
        is_=r"(?:应该|應該|应当|应|應)?(?:是|为|為|选|選)",
        choose=r"(?<![不没未])(?:选择|選擇|选|選)(?:的是)?(?:项|項)?",
        right=r"(?:选项|選項|项|項)?\s*(?:是\s*)?(?:正确|正確|对的|最合适|最符合)(?:的|选项|答案)*",
        tail=r"(?:选项|選項|项|項|选|選)",
    ),
    "ja": Language(
        answer=r"(?:(?:正しい|最終的な)\s*)?(?:答え|正解|回答|解答|正答|選択肢)",
        option=r"(?:選択肢|答え)",
        is_=r"(?:は|が)",
        choose=r"(?:私は)",
        right=r"\s*(?:が|は)\s*(?:正解|正しい|答え|適切|最も適切)(?:です|である|だ)?",
        chosen=r"\s*を\s*(?:選びます|選択します|選ぶ|選びました)",
        tail=r"(?:です|である|だと思います|だ|になります|でしょう|と思います|と考えられます)",
    ),
    "ko": Language(
        answer=r"(?:(?:올바른|최종)\s*)?(?:정답|답변|답|선택지|옵션)",
        option=r"(?:선택지|옵션|보기|정답|답)",
        is_=r"(?:은|는|이|가)",
        choose=r"(?:저는|나는)",
        right=r"\s*(?:번)?\s*(?:이|가|은|는)\s*(?:정답|답|맞|옳|올바른|적절)(?:입니다|이다|습니다|답|다)?",
        chosen=r"\s*번?\s*(?:를|을)\s*(?:선택|고르|고릅|택)\w*",
        tail=r"번?(?:입니다|이다|이에요|예요|임|이라고\s+생각합니다)",
    ),
}
# A denial right behind what is said, in languages that put it there.
DENIED_BEHIND = (
    r"(?:ではな|じゃな|ではあり|이\s*아니|이\s*아닙|가\s*아니|가\s*아닙|は?\s*誤り|错误|錯誤|不对|不是)"
)


def any_of(*fields: str) -> str:
    """A group with one alternative for every language that has one of the fields."""
    parts = [getattr(language, field) for language in LANGUAGES.values() for field in fields]
    return "(?:" + "|".join(part for part in parts if part) + ")"
