"""Endings of German and Latin names of diseases, by which a noun is known to name some disease."""

from __future__ import annotations

import re

_ENDINGS = """
itis itiden arthrose arthrosen neurose neurosen psychose psychosen thrombose thrombosen stenose stenosen sklerose
zirrhose fibrose nekrose varikose divertikulose osteoporose tuberkulose sarkoidose mukoviszidose endometriose keratose
keratosen mykose mykosen karzinose amyloidose silikose psychosyndrom azidose alkalose hypothyreose hyperthyreose
listhese spondylose osteochondrose skoliose kyphose lordose phlebothrombose zystinose leukozytose thrombozytose
tendinose neuromatose borreliose toxoplasmose listeriose salmonellose virose dermatose fettleber karzinom karzinome
karzinoms adenom adenome lymphom lymphome melanom melanome melanoms myom myome sarkom sarkome gliom blastom fibrom
lipom hämatom hämatome angiom hämangiom glaukom granulom myelom myeloms neurinom meningeom teratom seminom papillom
ekzem ekzeme ödem ödeme emphysem basaliom spinaliom hygrom exanthem enanthem empyem ämie ämien urie urien pathie
pathien penie penien plegie plegien parese paresen phagie phasie ataxie apraxie insuffizienz insuffizienzen syndrom
syndrome syndroms krankheit krankheiten erkrankung erkrankungen leiden hypertonie hypertension hypotonie hypertonus
fraktur frakturen knochenbruch leistenbruch nabelbruch narbenbruch wirbelbruch armbruch beinbruch fingerbruch riss
risse ruptur rupturen läsion läsionen tumor tumore tumoren tumors krebs krebses embolie embolien infarkt infarkte
infarkts insult apoplex schlaganfall blutung blutungen degeneration degenerationen allergie allergien
unverträglichkeit intoleranz störung störungen episode abhängigkeit mangel dystrophie atrophie hypertrophie
hyperplasie dysplasie metaplasie prolaps vorfall hernie hernien aneurysma aneurysmen flattern flimmern flimmerns block
tachykardie tachykardien bradykardie arrhythmie arrhythmien extrasystolie extrasystolen vitium ektasie ektasien
varizen varikosis varicosis ulkus ulcus ulcera ulzera ulkera fistel fisteln abszess abszesse phlegmone erysipel sepsis
urosepsis infekt infekts infekte infektion infektionen pneumonie pneumonien grippe influenza zoster herpes gicht
arthritis asthma copd diabetes mellitus adipositas übergewicht anorexie bulimie demenz alzheimer parkinson epilepsie
migräne neuralgie neuralgien lagerungsschwindel tinnitus hörsturz schwerhörigkeit katarakt cataracta psoriasis nävus
naevus naevi nävi urtikaria akne rosazea rosacea struma metastase metastasen metastasierung lithiasis nierenstein
nierensteine gallenstein gallensteine harnleiterstein uretersteine kolik hämorrhoiden polyp polypen polyposis reflux
refluxkrankheit ileus subileus zyste zysten präeklampsie eklampsie fieberkrampf krampfanfall kontusion distorsion
luxation luxationen commotio prellung zerrung verbrennung verbrühung trauma traumas schädelhirntrauma coxarthrose
gonarthrose lumbago lumbalgie lumbalgien ischialgie ischialgien zervikobrachialgie zervikalgie dorsalgie fibromyalgie
kollagenose lupus osteopenie depression depressionen manie schizophrenie sucht abusus missbrauch entzugssyndrom delir
insomnie apnoe burnout adhs autismus ptbs dyslipidämie megalie zele varikozele hydrozele ptose spasmus spastik tremor
dyskinesie enzephalopathie hydrozephalus ismus rheumatismus raumforderung raumforderungen neubildung neoplasie
adenopathie schwäche blase fersensporn hallux tendopathie impingement kapsulitis bursitis inkontinenz retention
obstruktion obstipation gastroparese achalasie zöliakie sprue crohn ulzerosa basedow hashimoto raynaud sjögren
aszites ascites atemnot dyspnoe entgleisung
marasmus kachexie sarkopenie exsikkose dehydratation dekubitus gangrän ischämie klaudikatio claudicatio paVK pavk khk
tia nstemi stemi akutes-koronarsyndrom endokarditis kardiomyopathie shunt-vitium foramen rechtsherzinsuffizienz
herzschwäche herzfehler klappenfehler verkalkung plaque plaques gestose hyperemesis abort schwangerschaft gravidität
zwillingsgravidität frühgeburt makrosomie ikterus hyperbilirubinämie krupp pseudokrupp scharlach masern windpocken
mumps röteln keuchhusten borderline persönlichkeit reaktion trichter skrofulose hypoplasie agenesie spalte fehlbildung
analfissur fissur fissuren abszedierung wundheilungsstörung serom lymphödem lipödem ganglion kompression karpaltunnel
tunnelsyndrom engpass bandscheibenprotrusion protrusion spinalkanalstenose instabilität pseudarthrose gonalgie
coxalgie myalgie arthralgie cephalgie cephalea kopfschmerz phobie bulimia erguss ergüsse myasthenia myasthenie
asthenie sclerosis anorexia nervosa hernia pneumonia
"""
_NOT = """
diagnose prognose allergien metastasen infekte tumoren dose narkose hypnose glukose anamnese symptom atom strom genom
mechanismus organismus metabolismus block notizblock bestand reaktion persönlichkeit blase katheter spalte allergien-
keine instabil leiden-an anstieg episode kompression sucht tunnel schmerz trauma-anamnese lebensmittel zeitmangel
personalmangel bettenmangel riss
"""
_NEVER = ("mechanismus", "kleiden", "diagnose", "prognose", "narkose", "anamnese", "dosen", "organismus", "umleiden")
_BARE_NOT = frozenset(_NOT.split())
"""Words that end a name, or like one, and are none by themselves."""
_ENDS = frozenset(end + more for end in _ENDINGS.split() for more in ("", "n", "s", "en", "es"))
_LENGTHS = tuple(sorted(set(map(len, _ENDS))))
_SYMBOL = re.compile(
    r"^(?:COPD|KHK|pAVK|PAVK|TIA|NSTEMI|STEMI|ADHS|PTBS|AVK|VHF|SIRS|ARDS|HIV|MS|SLE|PCOS|GERD|LE|TVT)$"
)


def has_disease(text: str) -> bool:
    """True if any noun of an entry or line is the head of a disease's name."""
    return any(names_disease(word.strip("(),.;:")) for word in text.split())


def names_disease(word: str) -> bool:
    """True if a noun, without the marks around it, is the head of a disease's name."""
    if _SYMBOL.match(word):
        return True
    if len(word) < 4 or not word[0].isupper():
        return False
    if word.isupper() and len(word) < 5:
        return False
    plain = word.lower().replace("ß", "ss")
    last = plain.rpartition("-")[2]
    return plain not in _BARE_NOT and not plain.endswith(_NEVER) and _ends(last or plain)


def _ends(word: str) -> bool:
    """True if a word ends like a disease: asked by the length of the ending, not one ending after the other."""
    return any(word[-length:] in _ENDS for length in _LENGTHS if length <= len(word))
