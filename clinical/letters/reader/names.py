"""Names of people by their form: the words that may be one, their order, and people where a letter names them."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from clinical.letters.labels import label_of

_PARTICLES = (
    "von van de der den zu zur zum dos da di del della dal la le al el ten ter vom und i y af freiherr freifrau freiin"
)
_NOT_A_NAME = """
herr herrn frau patient patientin patienten kollege kollegin kollegen kolleginnen klinik spital krankenhaus praxis
sehr geehrte geehrter diagnose diagnosen arztbrief befund bericht abteilung station datum adresse name vorname telefon
fax strasse straße str januar februar märz april mai juni juli august september oktober november dezember wir ich sie
der die das dem den ein eine bei nach vor aus seit zur zum am im in mit und oder für ihr ihre ihren unser unsere
versicherte versicherter betreff betrifft damen herren universitätsklinik zuweisung überweisung einweisung anmeldung
ambulanz zentrum institut sekretariat notfall aufnahme entlassung eintritt austritt verlauf anamnese therapie labor
facharzt fachärztin arzt ärztin oberarzt oberärztin chefarzt chefärztin assistenzarzt assistenzärztin stationsarzt
stationsärztin primarin hausarzt hausärztin med dr prof univ ltd leitender leitende urologe neurologe kardiologe
chirurg internist telefonisch mutter vater sohn tochter ehemann ehefrau bruder schwester dieser diese dieses dass
geboren geb wohnhaft pat stationär stationäre ambulant ambulante behandlung untersuchung kontrolle medikation
allgemein privat halbprivat fmh nr nummer garant di dipl ing mag lic
klient klientin baby kind bub mädchen säugling knabe bewohner bewohnerin hr fr hrn id patid oberstudienrat studienrat
uhr ankunft verlassen tel mobil kontakt druckdatum fallnummer patientenetikett
unterschrift stempel eilt eilig dringend termin gruss grüsse grüße liebe lieber guten tag hallo
geschlecht unfall gmbh ag aktuell aktuelle frage
fragestellung versicherung krankenkasse kasse betr vornamen
ihnen jungen knaben pat.in mri mrt ct nativ knie links rechts
"""
_FIRST_NAMES = """
aaron abdullah achim ada adam adele adelheid adolf adrian agathe agnes ahmed aische alban albert alberto albrecht aldo
alessandra alessandro alex alexa alexander alexandra alfons alfred ali alice alina alma alois aloisia alwin amadeus
ambros amelie amira anabel anastasia anatol andrea andreas andrin andré angela angelika anita anja anke anna annabelle
anne annegret anneke annelies anneliese annemarie annemie annette anni annika ansgar anton antonia antonio apollonia
ariana ariane armin arnd arne arno arnold arnulf arthur artur astrid athanasios august aurel aurelia axel aylin ayse
balthasar barbara bartholomäus bastian beat beate beatrice beatrix ben benedikt benjamin benno bernadette bernardo
bernd bernhard berta bertha berthold berti bettina birgit björn blanka boris brigitta brigitte britta bronislaw bruno
burkhard camilla carina carla carlo carmen carola caroline caspar cedric chantal charlotte chiara christa christel
christian christiana christiane christina christine christl christof christoph clara claude claudia claudio claus
clemens constanze corina corinna cornelia cornelius cosima curdin cäcilia cécile cédric dagmar dalia dana daniel
daniela danuta daria dario david davide debora denis denise desirée detlef diana diego dieter dietlinde dietmar dino
dirk dominic dominik dominique donato dora doris dorothea dragan dragica duri ebba eberhard edda edelgard edeltraud
edeltraut edgar edith edmund eduard egbert egon ekkehard elena eleonora eleonore elfriede elia eliane elias elif elina
elisa elisabeth elise eliska elke ella ellen ellinor elmar elsa elsbeth elvira emanuel emil emilia emine emma emmerich
enrico enzo erdmute erhard eric erich erika erna ernestine ernst erwin erwina esra ester esther etienne eugen eugenie
eva evelyn evi ewa ewald fabian fabienne fabio fabrizio fadime fatma felicitas felix felizitas ferdi ferdinand
fernando fidelis fiona flavia flavio florian flurin flurina franca francesca francesco franco frank franz franziska
françois freya fridolin frieda frieder friederike friedhelm friedlinde friedrich frithjof fritz fränzi gabriel
gabriela gabriele gaby gebhard genoveva georg georgios gerald gerd gerda gerhard gerlinde gernot gero gerold gertrud
gertrude gesa gian giancarlo gianni giorgio giovanni gisela giulia giuseppe gottfried gottlieb gregor greta gudrun
guido gunda gunnar gunther guntram gustav gustl götz günter günther hanna hannah hannelies hannelore hannes hans
hansjörg hanspeter hansruedi harald hartmut hartwig hasan hatice hedwig heidemarie heidi heike heiko heiner heini
heinke heinrich heinrike heinz helen helena helene helga helmine helmut helmuth henning henny henriette henrik henrike
herbert hermann hermina hermine herta hilda hildburg hilde hildegard hiltrud hinrich holger horst hubert hugo hüseyin
ibrahim ida ignaz ilja ilka ilona ilse imke immanuel ina ines inga inge ingeborg ingo ingolf ingrid irena irene irina
iris irma irmela irmgard isa isabel isabella isabelle isidor ivan ivana ivo iwona jacob jacqueline jadwiga jakob jan
jana janina janine janis jannik janosch jaroslav jasmin jasna jasper jean jeannette jelena jennifer jenny jens
jeremias jessica joachim joana jochen joel johann johanna johanne johannes jolanda jolanthe jon jonas jonathan jorge
josef josefa josefine joseph josip joël joëlle juan judith jukka julia julian juliane julius justus jutta jörg jörn
jürg jürgen kai kaja kamila karin karl karla karlheinz karlo karolina karoline kasimir kaspar kata katharina kathrin
katja katrin kerstin kevin kilian kira kirsten klara klaus klemens knut konrad konstantin korbinian kordula kreszenz
kristina kunigunde kurt ladina lara larissa lars laura laurenz laurin layla lazar lea leander leberecht lena lennart
lenz leo leokadia leon leonhard leonie leonora leopold lia liam liane lieselotte liliane lilli lina linda linus lisa
lisbeth liselotte livia livio ljubica lorenz loris lothar lotte louis louise luana luca lucas lucia ludmila ludmilla
ludwig luis luise lukas luzia luzius lydia magda magdalena maik maike maja maksim malte manfred manuel manuela mara
marc marcel marcella marcin marco mareike marek margareta margarete margaretha margarethe margarita margit margot
margrit margrith maria marianne marie marija marijan marika marina mario marion marisa marius markus marlene marlies
marlis martha martin martina marvin mathias mathilde mats matteo matthias matthäus maurice maurizio maurus max
maximilian mechthild mechtild mehmet meike meinrad melanie melissa melitta mensur merle metin mia michael michaela
michelle mila milan milena mina mirela miriam mirjam mirjana mirko miroslav mohammed mona monika monique moritz murat
muriel mustafa nadia nadine nadja nando natalie natascha nathalie nathanael nelly nepomuk nick nico nicola nicolas
nicole niklas niklaus nikola nikolai nikolaus nils nina noah noemi nora norbert norma notburga noëmi olaf oleg olga
oliver olivia omar orsola ortrud ortwin oskar osman oswald otmar ottilie ottmar otto ottokar pablo pamela paolo pascal
patricia patrick patrizia paul paula pauline pavel petar peter petra philipp philippe philomena pia pierre piotr
pirmin pius quirin rade radovan rafael rahel raimund rainer rainhard ralf ralph ramona raoul raphael raul rebecca
rebekka regina regine regula reinhard reinhild reinhilde reinhold remo renate renato rené reto ricarda riccardo
richard richarda rico rita robert roger roland rolf roman romana romy ronald ronja rosa rosalia rosalinde rosemarie
rosina rosmarie rosmarin roswita roswitha rudolf ruedi rupert ruth sabina sabine sabrina salome samira samuel sandra
sandro sara sarah sascha sava sebastian selina selma senta sepp serafin serge sergio severin seyma sibylla sibylle
siegfried sieglinde siegmund siegrid sigmund sigrid sigurd silja silke silvan silvana silvia silvio simon simona
simone slavica slobodan snezana sofia solveig sonia sonja sophia sophie stanislaw stefan stefanie stefano steffen
stella stephan stephanie susann susanna susanne svea sven svenja sylvester sylvia sylvie sönke tabea tamara tamina
tamás tanja tatiana tatjana teodor teresa tessa thea thekla theo theodor theodora theresa therese theresia thierry
thomas thorben thorsten till tilman tilo tim timo timon tina titus tobias tom torben torsten traudl traugott traute
trudi trudy udo ueli ulf ulla ulrich ulrika ulrike urban urs ursina ursula urte ute uwe valentin valentina valeria
valerie vanessa vasile vera verena verona veronica veronika viktor viktoria vincent vincenzo vinzenz viola virginia
vito vitus vivien vladimir volker vroni walburg walburga waldemar walter waltraud waltraut waltraute wanda wendelin
wenzel werna werner wiebke wieland wilfried wilfriede wilhelm wilhelmine willi willy wilma winfrid winfried wladimir
wolf wolfgang wolfram xaver xenia yannick yannik yusuf yves yvonne zdenka zeynep zita zoe zoran zuzana ömer
"""
_MORE_FIRST_NAMES = """
abeba adisu akua aoife aroha asmara awa ayaan ayodele babak bahar bahram baraka bashkim behrouz besnik bilal binh bora
chiamaka chidi chinedu chiara ciara dalila daud dawit deepak desta diallo dina dung duc ebru ehsan eirini elanur emeka
eritrea estefania fadi farid fariba farzad fatou fekadu femi fereshte fikirte fiona fitim florije gebre genet ghazal
giang girma habib hadi hagos haile hamza hanan hang hari haruka hashim hayat helin hoa hong hossein huong hung idil
ifeoma iman imani indrit isam isra jagoda jamila jawad jetmir joao jovan kamala kaveh kebede keiko kenji khadra khanh
kidane kiran kjersti kofi kojo krenar kumar kushtrim kwame lan laith lam leonora leyla linh liu liya long loan lul
mahdi mai mahsa makeda manjit masoud mehdi mehrdad meiling mekdes mengistu mihret milos min minh mohan mulugeta musa
nadim nam nasra natnael ndeye neema nga ngan ngoc ngozi nhung niamh nilufar nima noor nurettin obinna olumide omar oana
ousmane parisa parvin phuong pooja priya qendresa quang quoc quyen rahul raj rajan rania reem reza rohan ruba rukhsana
saeed saleh samina sanjay selam selamawit semhar sevil shahin shala shirin siham simret siobhan sita solomon son soraya
suad sundari suresh taha tam tamam tariq tekle tewodros thanh thao thi thien thu thuy tigist trang trung tsegay tuan
tuyet usman van vandana vesel veton vien vinh wafa walid wanjiru wei xuan yared yasemin yehia yohannes yonas yuki
yusuf zahir zainab zakaria zarif zewdi zhen zineb zoran zuhra annelore anneliese-marie hildtrud irmhild gesche wiebken
friedegund ehrentraud hannerose rosmarie marie-theres marie-luise eva-maria ann-kathrin ilse-lore karl-heinz hans-jürgen
klaus-dieter heinz-peter jan-ole kornelia petronella gesine mechthild roswitha oda solvej
aaliyah abbas abel abigail adalbert adelina adem adnan adriana adriano afra agata agim aida ajla ajda akim alain alaia
alba albana albina alda aldina alec alejandro aleksandar aleksandra alena alessio alev alexandre alexej alfonso alija
alisa alisha alissa altin alva alya amadou amanda amar amber amélie amina amir amra anastasija ana anaïs andjela
andrej andrew andrijana andré andri anela anetta angelina angelo anica anika anikó anisa anouk antje antoine antonella
antonia apostolos aram arben ardita argyro arian arif arlette armando arta artan arthur arton arzu asim asiye aslan
aslı asma assunta atilla atif augustin aurelie aurora ava ayla aylin ayşe aziz azra babette baptist baran bashar
batoul bea belinda bella ben benita benedetta bengt bente beppo berat beritan bernarda bernadett beryl besim bettine
bianca birgül birte bjarne blagoje blerim blerta bogdan bogna bojan bojana boran borislav božena branislav branka
branko brendan brian brigit bruna burak burcu burim can canan carine carlos carlotta carmelo carmine carolin carolina
caterina cathérine catherine cecilia celal celia celina celine cem cemal ceyda chandra cihan cinzia clarissa claudine
claudius clea clelia colette colin concetta conny constantin corin corine corinne corsin cristian cristiano cristina
cyrill cyril céline dafina daisy damian damiano damir dana danica danijel danijela danilo danuta darko darius dean
deborah defne dejan delia demian deniz derya desanka despina destan detlev devrim dilan dilara dimitar dimitri
dimitrios dino dirk djordje djamila dolores domenica domenico donat donata donka dorina dorit dorota dorothee
dorothé drita dubravka durmuş dušan dzenana džemal ece ecem eda edelbert edina edin edis edith edona efe eglantine
egzon eike eileen einar ekaterina ela eleni eleftheria elfi elfriede elham elias eligius elin elina elio elira elise
elisha elke elma elmira elsbet elvin elvis emanuela emel emilie emilio emin emina emir emirhan emre ender enes
engelbert enis enrica enver erdal erdem eren erhan erich erkan erol ersin ertan esin esma esmeralda estela esteban
estelle eszter euphemia eveline evelina evgeni evangelos ezgi fabiana fabiola fabrice fadil fahri fanny farah faruk
fatih fatima fatime fatmir faustina federica federico fehmi felicia feliks fenja ferdi ferenc ferhat fernanda
fethi fikret filip filippo filippa finn fiorella firat fjodor flamur flavian fleur flora florence florentin florentina
florin folke francesco françoise freddy frederic frederik frieda fridtjof fritzi frodo fynn gabor gaetano gajendra
galina gazmend geert gemma genc geneviève geoffrey georges georgette georgia gerda geri germaine gerrit gervais
ghassan ghislaine giacomo giada gianluca gianna gian-luca gilbert gilberte gilles ginette gino giorgia giorgos gioia
gisbert gitta gitte giuliana giuliano giuseppina gizem gjergj gjon godfrey goran gordana gordon grazia graziella
grazyna grażyna greg gretel grzegorz gualtiero guillaume gulnara günay gülay gülcan gülsen gülten gürkan hakan haki
halil halina halime hamid hana hanife hanka hanne hans-peter harun hassan hatem hatidza hauke havva hedda
hedi hedy heidrun heiderose heinke heino heintje hekuran hella henner henri henrieta hergard heribert herlinde hermi
hermien hermann-josef hilal hilmar hiltraud hina hiroshi holda hrvoje huda hülya husein hussein hyacinth ian ibolya
idris idriz ignacio ignatius igor iker ilaria ildikó ilhan ilian ilir ilka imelda imre indira inken inna ioana ioannis
iolanda ionel irfan irini irmela isaak isabell isabela ismail ismet isolde istván iulia ivanka ivica ivka iwan izabela
jaan jacek jaime jakub jala jamal james janek janet janin janko janne jannes jannick janosch jaqueline jaro jarmila
jasmina jasmine jason jaspal javier jayden jeanette jeanne jeanine jean-luc jelka jelle jeremy jerzy jesko jesper
jesus jette jirka joanna joaquim joerg joey john jolana jolande jolanta jolie jordan jorina jorinde jorma josé
josephine joschka josua jost josy jovana jovica joy joyce jozef jozo juana julie juliette julika jule
juna jurek juri justin justyna jutka jérôme jörn kaan kadir kaltrina kamal kamil karan karel karen karim karima kasia
kaspar kastriot katalin katarina katarzyna kateryna kathleen kathi kathy katia katinka kato katrina kaya kazim kelly
kemal kenan kenneth keno kerem khadija khaled khalil kim kimberly kirill kjell knud konstantina konstantinos konstanze
konstantin korbinian kosta kostas kreshnik krešimir kriemhild kristian kristin kristijan kristof krystyna krzysztof
kujtim kurtis ladislaus ladislav laila lali lambert lana lando lara lasse laszlo latifa laura layal layla leif
leila lejla lelia len leni lenka lennard lennox leokadija leonardo leonid leontine leopoldine leroy leszek
liana liborius lidia lidija lieselott liesbeth liesel lilian liliana lilija lily lindita lino linn lionel liridon
lirim lisanne lisette liv livia ljiljana ljubomir logan lola lorena lorenzo loredana lorin lotti louisa lova lovis
luan luc lucian luciana luciano lucie lucien lucija luigi luisa luisella luka lumturije luna lutz lydie lynn maarten
mabel maddalena madeleine madlaina mads mae magali magnus mahmoud mahmut maia maija maila maja malaika malak malena
malgorzata malin małgorzata manda mandy manfredo mani manola manolis manon manuela marcelo marcela marcello marcus
marduk mareen marek maren margarethe margaux margherita margret marguerite mariam mariana mariangela mariano maribel
maricel mariella marielle marietta mariette marija-magdalena marijana marina marinko marinus marisol marit marita
marjan marjana markéta marko marla marleen marlis marlon marta marten marthe martine martino marwa marwin mary maryam
marzena massimo mateo mateusz mathieu mathis mathéo matilda matilde matti mattia mattea maura maxim maxime maximiliane
maya mayra medina medine mehmed melek melina melisa mélanie memet menga meral mercedes meret meriem
merima merita meryem mesut mevlüt mia micha michail michal michał michel michela michele micheline mihai mihaela mika
mikael mike miklos mikołaj milica milka miljana milo miloš milton mimoza minea mino mira miranda mirabela mireille
mirela mirella mirka mirna mirsad mirsada mirza misha mladen modesta mohamad mohamed mohammad monica morena morgan
moritz morris mosche muhamed muhammad muhammed muhammet muharrem mujo mukaddes müjgan mürvet myriam myrta myrtha
nabil nada nadezhda nadija nadiya naim naima nala namik nancy naomi narges nasir nasrin natalia natalija natalya
nathan nathanaël navid nazan nazli nea nebojša necla nedim nehir nela nelli nermin nermina nesrin nevena neven nico
nicolai nicolaj nicolaus nicoletta nidal nihal nihat nika nikita niko nikolaos nikolaj nikolas nikoletta nikolina
nils-ole nina-marie nino niki nives nizar noa noah-elias noam noé noel noelle noémie nolan nora norah norman nour
nouri nuno nur nuray nurcan nurgül nuri nuria nurten nusret octavia odette odile oisín ole oleh oleksandr oleksii
olena olga olha olimpia oliwia olivera olivier oluf ömer omid ondřej onur oona oriana orlando orhan orietta orla
orsina orsolya oscar osvald otto-karl ottavio ove özcan özden özge özgür özlem pál panagiotis paola pascale
pasquale patric patrik pau paulina paulo pavle pawel paweł pedro peer pelin per perihan perrine pero petros petrus
philip phillip pierina pierluigi pietro pilar piotr placi placidus polina predrag primo priska przemysław quentin
quinn rabea rabia rachel rada radmila radomir radoslav rafaela rafał raffaela raffaele rahela rahim rahman raik raina
raïssa rajko ralph-peter rama ramadan ramazan ramiz ramize randi raphaela raquel rasim rasmus ratko raymond razvan
rebecca reda refik regis régis reinhart reino rejhan remigius rena renan rené-marc renée reni renzo resul reta rexhep
ria rian riana ricardo richarda rick riet rifat rikarda rina risto rita-maria riza robby roberta roberto robin
rocco rochus rodolfo rodrigo roel rogelio rok roland-peter romain romaine romana romed romeo romilda romina romuald
ron ronald ronan ronny roque rosalba rosalina rosanna rosario roselinde rosella rosemary rosetta rosi rosita rosy
roswin rouven roxana roxane rozalia ruben rudi rufus rukiye rune ruprecht ruslan ruža rüdiger ryan saad sabah sabino
sabri sadik sadiye safet safiya sahra said salih salim salma salman salvador salvatore sami samantha samia samir samra
samy sander sandrina sandrine sanela sanja santino santo saranda saša sascha-andreas sasa sasha saskia savina sead
sebahat sebastiano sebnem seda sedat sefa seher selami selin selim selman semih semra sena senad senada senka serap
serafina serdar serena sergej serhat serhii serkan servet sevda sevgi sevim seweryn seyfi shadi shaban shamsa shanti
sharon sheila shkelqim shpresa shqipe siad sidonia siegbert siegmar sieghard sigisbert sigmar signe silas
silvija silvie silvester silvano simeon simge simonetta sina sinan sinem sinja siri siro sirpa sissy slađana
slaven slavko sladjana smilja snežana sofie sofija soheila soledad solveigh solvejg sondra sonay songül sören
soraia spomenka spyros srdjan stacy stana stanislav stanislava stanko stavros stefania stefanija stefano-luca stella
sten steven stina stipe stjepan stojan strahinja süleyman sultan sumeja suna sunna susan susana susi suzana suzanne
sven-erik svetlana svetozar swantje sylvana sylvain sylvette sylvia szilvia tabitha tadeusz tahir talia tamar tamas
tamino tammo tanaz tanya tara tarek tarik tatjana-maria tayfun taylan tea ted teodora teresia terezija thaddäus thais
thalia thamar thassilo theodore theodoros thilo thiemo thies thora thorben-lasse thore thyra tia tibor tiago
tihana til tilde tilda tilly timea timon timotheus timur tina-maria tino tiziana tjark toby todor tomas tomasz tomaž
tomislav tommaso toni tonio tonja tore toska tove traian trine tristan trude trudel trudi tugba tuğba tuncay turgut
türkan tyler udo ueli ugo uğur ugur uli ülkü umberto umut una undine ursin ursina-maria ursulina usama uschi uta
valborg valentine valentyna valentino valerij valérie valeriya valerio valmir valon valter varvara vasil vasilij
vasilios vasiliki vatroslav veerle vedran velimir venera verena-maria vesna vicente vicky victoria victor vida
vigdis vilma vilmos vinko violetta virginie vitali vito-andrea vittorio viviane viviana vivienne vjollca vlado vladan
vladimira vlasta vojislav vojtěch volkan vreni vroni vuk walfried walter-josef wanja wasil wassili wassilios wencke
wendel wenke wibke wiesław wiesława wilbert wilfriede wilhelmina wiltrud winnie wiktoria wladislaw włodzimierz
wojciech wolfhard wolodymyr woldemar wolfram-peter xavier xhevdet xheneta ximena yael yaël yakup yan yara
yasin yasmin yasmina yasmine yavuz yener yeter yeşim yıldız yilmaz ylenia ylva yolanda yulia yuliya yunus yuri
yusra yvette yvonne-maria ysabel zahra zara zarah zeljko željko zehra zejna zeki zelda zeliha zenon zeno
zerrin zinaida zita-maria zlatan zlatko zofia zoë zoé zoltán zora zorica zsófia zsuzsanna zuhal zülfiye zvonimir
zvonko ägidius änne ömür özkan šime štefan şenay şükran şerife şule ümit ürsula
"""
PARTICLES = frozenset(_PARTICLES.split())
SURNAMES_TOO = frozenset("mai märz august arzt kind sohn bruder vetter knabe bub mutter pat baby kasse".split())  # noqa: SIM905
"""Words that are no name, but for a surname before a comma."""
NOT_A_NAME = frozenset(_NOT_A_NAME.split())
FIRST_NAMES = frozenset(_FIRST_NAMES.split())
"""Common first names: they show the order of two names without a comma."""
MORE_FIRST_NAMES = frozenset(_MORE_FIRST_NAMES.split())
"""First names of the other languages that patients in Switzerland, Austria and Germany have, and rarer German ones."""


DECIDED = 0.5
"""Difference of the scores of two words from which one of them counts as the first name."""

_SURNAME_END = re.compile(
    r"(?:mann|berger|inger|hofer|huber|bauer|meie?r|maie?r|maye?r|meye?r|müller|schmidt?|i[cć]|sk[iy]|czyk|wicz|ss?on|"
    r"sen|o[gğ]lu|poulos|idis|akis|enko|stein|feld|bach|hauser|egger|acher|inger|hammer|moser|brunner|dorf|thal|wald|"
    r"kamp|horst|owski|ová|ow|off|escu|quist|gaard|ström|[^aeiouäöü]ler|[^aeiouäöü]ner|bühl|acker|holz|rieder)$"
)
_GIVEN_END = re.compile(
    r"(?:fried|bert|hild|hilde|gard|linde|traud|traut|trud|mut|helm|wig|slav|mir|iana|ette|ina|ela|ika|ella|ila|ita|"
    r"isa|una|ija|ius|ian|lyn|elle|ane|ene)$"
)


def given(word: str) -> float:
    """Score of a word as a first name (above 0) or a surname (below 0)."""
    plain = word.lower().strip(".,")
    parts = plain.split("-")
    known = [part in FIRST_NAMES or part in MORE_FIRST_NAMES for part in parts]
    if all(known):
        return 2.0
    if any(known):
        return 1.0 if known[0] else -0.5
    score = -1.5 if len(parts) > 1 else 0.0
    if _SURNAME_END.search(plain):
        score -= 1.0
    return score + 0.6 * (_GIVEN_END.search(plain) is not None)


def surname_first(words: list[str], register: bool) -> bool:
    """True if the surname stands first. `register`: true where lists of people have it first."""
    difference = given(words[-1]) - given(words[0])
    return difference > 0 if abs(difference) >= DECIDED else register


_RANK = (
    r"o\.\s?Univ\.?|Ao\.|Univ\.?\s?-?|Uriv\.-?|Prim\.?(?:aria)?|Prof(?:essor)?(?:in)?\.?|Priv\.?\s?-?\s?Doz\.?|PD|"
    r"P\.D\.|Doz\.?|"
    r"OA|OÄ|CA|CÄ|AA|AÄ|Dr(?:es|s)?\.?a?(?:in)?\.?|Drª|DDr\.?|DDDr\.?|Dr\.in|Mag\.(?:a|ª)|Mag\.?|(?:O?MR|HR)(?=\s(?:Dr|Univ|"
    r"Prof|Prim|DDr|Doz))|Dipl\.?\s?-?\s?(?:Ing|Med|Psych|Ärztin|"
    r"Arzt)?\.?|DI|Ing\.?|"
    r"MUDr\.?|lic\.|Universitätsprofessor(?:in)?|Primar(?:ia|ius|ärztin|arzt)?|Chefarzt|Chefärztin|Oberarzt|"
    r"Oberärztin|"
    r"Assistenz[aä]rzt(?:in)?|Assistenzarzt|Stationsarzt|Stationsärztin|Ltd\.|Leitende[rn]?|LOA|FOÄ|FOA"
)
_DEGREE = (
    r"(?:et|r?rned|med|pract|prakt|univ(?:ers?)?|uni|phil|habil|dent|mult|h\.?\s?c|rer|nat|sc|theol|jur|psych|scient|"
    r"hum|biol|vet)"
    r"\b\.?|\(Univ\.\s?[^()]{2,20}\)"
)
TITLE = re.compile(rf"(?:{_RANK})(?=[\s.A-ZÄÖÜ-]|$)")
_TITLES = re.compile(rf"(?:(?:{_RANK}|{_DEGREE})[\s.,-]*(?![a-zäöüß]))+")
_SALUTED = re.compile(
    r"^(?:(?:Herrn?|Frau|Hrn?|Fr|Hrn?\.?|Fr\.|Sig\.(?:ra)?|Patient(?:in|en)?|Pat\.|Kolleg(?:e|in|en)|Kindes|Kind|"
    r"Ihre?[nrms]?|"
    r"Unsere?[nrms]?|gemeinsame[nrms]?|Versicherte[rn]?|z\.\s?Hd?\.|z\.H\.|an|An)[\s.:]+)+"
)
_CUT = re.compile(
    r"[*(;|\t<]|(?<![^\W\d_])\d|\d(?![^\W\d_])|\bgeb\b|\bgeboren|\bwohnh|,\s*(?:[mwMW]|weibl|männl|weiblich|"
    r"männlich)\b|"
    r"\s[mwMW]\s*$|\s-\s|\s[–—]\s|:"
)


_TITLE_BEHIND = re.compile(rf",\s*(?:(?:{_RANK}|{_DEGREE}|\w{{2,10}}\.?-?\s?[Rr](?:at|ätin))[.ªa]?[\s,.-]*)+$")
"""`Kern Anna, Mag.ª`, `KERN, Anna, Dr. phil.`, `Kern Anna, Reg.Rat`: titles as the last piece."""
_SET_APART = re.compile(r"(?<!\S)[A-ZÄÖÜ](?: [A-ZÄÖÜ]){2,}(?=[\s,]|$)")
"""Surname with its characters set apart: `K E R N ,`."""
_GENERATION = re.compile(r"\s(?:jun|sen|jr|sr|junior|senior)\b\.?", re.IGNORECASE)
_DEGREE_IN_BRACKETS = re.compile(r"\s?\((?:FH|Univ\.?[^)]{0,20}|TU|ETH|FMH)\)")


@dataclass(frozen=True, slots=True)
class Name:
    """Surname and first names; `sure` where the form itself distinguishes them."""

    last: str
    first: str | None
    sure: bool = False


def without_salutation(text: str) -> str:
    """Without `Herrn`, `Frau`, `z. Hd.` at the beginning."""
    return _SALUTED.sub("", text).strip(" ,")


def strip_titles(text: str) -> str:
    """Without salutation, role and academic titles at the beginning."""
    before = None
    text = text.strip(" ,")
    while before != text:
        before = text
        text = _SALUTED.sub("", text).strip(" ,.")
        found = _TITLES.match(text)
        text = text[found.end() :].strip(" ,.") if found and found.end() < len(text) else text
    return text


_SCANNED_IN = re.compile(r"(?<=[^\W\d_])[01](?=[^\W\d_])")
"""Digits that a scan read within a name."""


def _has_symbol(word: str) -> bool:
    """`Knie-TEP`, `MRT-Befund`: a part in capitals beside one that is not is no name's."""
    parts = [part for part in word.split("-") if len(part) > 1]
    return not word.isupper() and any(part.isupper() for part in parts)


def closed_up(text: str) -> str:
    """`K E R N ,  Anna` -> `KERN, Anna`."""
    return _SET_APART.sub(lambda found: found[0].replace(" ", ""), text).replace(" ,", ",")


def is_name_word(word: str) -> bool:
    """A word with a capital that may be part of a name, particles apart."""
    bare = word.strip(",.")
    plain = _SCANNED_IN.sub("l", re.sub(r"[-'’´.]", "", bare))
    return (
        bool(plain)
        and not _has_symbol(bare)
        and len(bare) <= 30
        and bare[0].isupper()
        and plain.isalpha()
        and (len(plain) > 1 or word.endswith("."))
        and bare.lower() not in NOT_A_NAME
        and not _OF_DOCUMENTS.search(bare)
        and (_VOWEL.search(plain) or _INITIALS.fullmatch(bare)) is not None
    )


_VOWEL = re.compile(r"[aeiouyäöüàáâãåæèéêëìíîïòóôõøùúûýıąęœ]|^.$|^[^\W\d_]\.", re.IGNORECASE)
"""Vowel, initial or single character: abbreviations like `MRT` and `LWS` have none."""
_INITIALS = re.compile(r"(?:Th|Ch|Chr|Ph|Rh)(?:\.-[A-ZÄÖÜ])?|[A-ZÄÖÜ]\.-[A-ZÄÖÜ]")
"""First names cut short: `Th.`, `H.-J.`, without their last stop."""
_OF_DOCUMENTS = re.compile(
    r"(?:bericht|brief|befund|überweisung|einweisung|zuweisung|verlegung|anmeldung|anforderung|anfrage|protokoll|"
    r"mitteilung|formular|schreiben|verordnung|konsil|termin|ambulanz|klinik|spital|krankenhaus|abteilung|"
    r"untersuchung|behandlung|versicherung|chirurgie|ologie|iatrie|medizin|pädie|therapie)$",
    re.IGNORECASE,
)
"""Endings of the names of documents, houses and acts: `Kurzbericht`, `Verlegung`."""


def parse_name(text: str, spoken: Collection[str] = (), register: bool = False) -> Name | None:
    """The name that the text is, up to a birth date, a bracket or a number; None for anything else.

    `spoken`: surnames that the letter says behind Frau or Herr. `register`: in forms the surname often stands first.
    """
    head, comma, behind = text.partition(",")
    text = head if comma and label_of(re.split(r"[\s:]", behind.strip())[0]) else text
    text = _GENERATION.sub("", _DEGREE_IN_BRACKETS.sub("", closed_up(text[:140])))
    text = strip_titles(_TITLE_BEHIND.sub("", _CUT.split(text[:120].strip(" ,*-"), maxsplit=1)[0].strip(" ,/")))
    words = text.split()
    if not 1 <= len(words) <= 6 or not all(is_name_word(one) or one.lower() in PARTICLES for one in words[1:]):
        return None
    if not is_name_word(words[0]) and words[0].lower() not in PARTICLES and not _is_listed(words[0]):
        return None
    if text.count(",") == 1 and not text.endswith(","):
        last, first = (part.strip() for part in text.split(","))
        if label_of(first) is not None:
            return parse_name(last, spoken, register)
        told = last.split()
        if len(told) > 1 and given(told[0]) > 1 and given(first.split()[0] if first else "") <= 0:
            return parse_name(last, spoken, register)  # `Anna Kern, Personalnr.`
        own = " ".join(strip_titles(first).split())
        return Name(last, own or None, True) if last and len(last.split()) <= 4 else None
    if "," in text.strip(","):
        return None
    words = text.strip(",").split()
    words = words[: _end(words)]
    if len(words) == 1:
        return Name(words[0], None)
    return _ordered(words, spoken, register)


def _end(words: Sequence[str]) -> int:
    """Number of words up to a preposition behind a whole name: `Anna Kern zu Hause`, not `Anna Maria zu Dohna`."""
    behind = range(2, len(words)) if given(words[0]) > 1 else ()
    ends = (n for n in behind if words[n] in _OPENING and given(words[n - 1]) <= 0 and words[n - 1][0].isupper())
    return next(ends, len(words))


def _is_listed(word: str) -> bool:
    """`Mai,` before a first name."""
    return word.endswith(",") and word[0].isupper() and word[:-1].lower() in SURNAMES_TOO


_OF_SURNAMES = PARTICLES - {"und", "i", "y", "zum", "zur", "vom"}
"""Particles in lower case that begin a surname behind first names: `Maria dos Santos Pereira`."""


_OPENING = PARTICLES - {"und", "i", "y"}
"""Particles that may also begin what is said of somebody: `Anna Kern zur Abklärung`."""


def _ordered(words: list[str], spoken: Collection[str], register: bool) -> Name:
    if sum(word.lower() not in PARTICLES for word in words) < 2:
        return Name(" ".join(words), None)
    first_last, last_first = _split(words, False), _split(words, True)
    shouted = [word for word in words if word.isupper() and len(word) > 2]
    if shouted and len(shouted) < len(words):
        return last_first if words[0] in shouted or (words[0].isupper() and words[1] in shouted) else first_last
    if words[0].lower() in PARTICLES:
        return last_first
    if (at := next((n for n, word in enumerate(words[:-1]) if n and word in _OF_SURNAMES), 0)) > 0:
        return Name(" ".join(words[at:]), " ".join(words[:at]))
    said = {name.lower() for name in spoken}
    if (first_last.last.lower() in said) != (last_first.last.lower() in said):
        return first_last if first_last.last.lower() in said else last_first
    return last_first if surname_first(words, register) else first_last


def _split(words: list[str], last_first: bool) -> Name:
    if last_first:
        end = 1
        while end < len(words) - 1 and (
            words[end - 1].lower() in PARTICLES
            or (given(words[end]) <= 0 and any(given(word) > 1 for word in words[end + 1 :]))
        ):
            end += 1
        return Name(" ".join(words[:end]), " ".join(words[end:]))
    start = len(words) - 1
    while start > 1 and (words[start - 1].lower() in PARTICLES or given(words[start - 1]) < 0):
        start -= 1
    return Name(" ".join(words[start:]), " ".join(words[:start]))


def name_before(text: str) -> str:
    """The run of name words at the end of the text: `wir berichten über Frau KERN, Anna, ` -> `KERN, Anna`."""
    text = _TITLE_BEHIND.sub("", closed_up(text[-120:]))
    words = text[-90:].replace("(", " ").replace("*", " ").split()
    if len(text) > 90 and words:
        words = words[1:]
    run: list[str] = []
    commas = 0
    for word in reversed(words):
        bare = word.strip(",")
        if not bare:
            continue
        glued = re.search(r"(?:Pat|Hr|Fr)\.(?=[A-ZÄÖÜ])", bare)
        if not (is_name_word(bare) or (bare.lower() in PARTICLES and run)) or glued:
            break
        if bare.endswith(".") and (len(bare) > 3 or TITLE.fullmatch(bare)):
            break
        if word.endswith(",") and run:
            commas += 1
            if commas > 1:
                break
        run.append(word if run else bare)
    before = words[-len(run) - 1] if len(run) < len(words) else ""
    while run and _is_preposition(run, before):
        run.pop()  # `Zuweisung von Anna Kern`
    run = run[: _about(run)]
    return " ".join(reversed(run[:6]))


def _about(run: Sequence[str]) -> int:
    """The words (last first) up to `Kurz zu`, `Bericht zu`: what is written, not who it is about."""
    at = next((n for n, word in enumerate(run) if word == "zu" and n + 1 < len(run)), None)
    return len(run) if at is None or any(given(word) > 0 for word in run[at + 1 :]) else at


_ACT = re.compile(r"(?:ung|nahme|frage|bericht|befund|brief)$", re.IGNORECASE)
"""Endings of acts on a person: `von` behind one begins no name."""
_PREPOSITIONS = frozenset(("von", "zu", "der", "die", "den", "dem", "i", "y", "und", "vom", "zur"))


def _is_preposition(run: Sequence[str], before: str) -> bool:
    """True if the first word (the last of the run) is a preposition and no part of the name behind it."""
    word = run[-1].strip(",").lower()
    if word not in PARTICLES:
        return False
    if not run[-1][0].islower():
        return word in _PREPOSITIONS
    return (len(run) > 2 and given(run[-2]) > 1 and "," not in run[-2]) or _ACT.search(before) is not None


_DOCTOR = re.compile(
    rf"(?<!\w)((?:(?:{_RANK}|{_DEGREE})[\s.]{{1,3}}){{1,9}}\s?[^\W\d_a-zäöü][^\s,;|/()<\d]*(?:\s+(?:(?:von|van|de|der|"
    rf"zu|"
    rf"zur|dos|di|da|del|Al)\s+)?"
    rf"[^\W\d_a-zäöü][^\s,;|/()<\d]*){{0,3}})"
)


def doctor_in(text: str) -> str | None:
    """The first name with an academic title, as it stands; None where there is none."""
    for found in _DOCTOR.finditer(text[:400]):
        whole = found[1].strip(" ,.-")
        bare = strip_titles(whole)
        words = bare.split()
        kept: list[str] = []
        for word in words:
            if TITLE.fullmatch(word) or (not is_name_word(word) and word.lower() not in PARTICLES):
                break
            kept.append(word)
        while kept and kept[-1].lower() in PARTICLES:
            kept.pop()
        if kept and (len(kept) > 1 or len(kept[0]) > 2):
            end = (
                whole.find(bare) + len(bare)
                if len(kept) == len(words)
                else whole.find(kept[-1], whole.find(bare)) + len(kept[-1])
            )
            return whole[:end].strip()
    return None


def same_person(one: str, other: str) -> bool:
    """True if two wordings name the same surname, also the first of a double one, and no other first name."""
    a, b = strip_titles(one).lower().split(), strip_titles(other).lower().split()
    if not a or not b or set(a) <= set(b) or set(b) <= set(a):
        return bool(a and b)
    surnames = a[-1].split("-")[0] == b[-1].split("-")[0]
    return surnames and (len(a) < 2 or len(b) < 2 or a[0][0] == b[0][0])


def ticked_word(value: str) -> str:
    """Return the ticked option (`☐ weiblich   ☒ männlich`); a value without boxes as it is."""
    found = re.search(r"(?:☒|☑|\[[xX]\]|\([xX]\))\s*(\w+)", value)
    return found[1] if found else value


def another_first(salutation: str, name: Name, first: str) -> bool:
    """`Frau Nadine Kern` beside a patient Theo Kern: another person of that surname."""
    between = salutation[: salutation.casefold().rfind(name.last.casefold())].split()[1:]
    said = [word for word in between if word[0].isupper() and word.isalpha() and word.lower() in FIRST_NAMES]
    return bool(said) and first.split("-")[0] not in " ".join(said)


def leading_name(text: str) -> str:
    """The name words at the beginning: `Anna Kern, welche` -> `Anna Kern`."""
    run: list[str] = []
    for word in text.split()[:8]:
        bare = word.strip(",.;")
        title = re.match(r"(?:Dr|Prof|Mag|DI|Dipl|Ing|med|univ|Herrn?|Hrn?|Fr|Frau)\b", word)
        if title and not run:
            glued = re.match(r"(?:Dr|Mag|Prof)\.(?=[A-ZÄÖÜ])(.+)", word)
            if glued:
                run.append(glued[1].strip(","))
            continue
        if not bare or not (bare[0].isupper() or bare.lower() in ("von", "van", "de", "zu", "zur", "dos", "der")):
            break
        run.append(bare)
        if word[-1] in ",.;" and not (word.endswith(",") and len(run) == 1 and bare.isupper()):
            break
        if word.endswith(","):
            run[-1] = bare + ","
    while run and run[-1].islower():
        run.pop()
    return " ".join(run[:5])


_SALUTATION_BOXES = re.compile(
    r"(?:☐|☒|☑|\[[ xX]?\]|\([ xX]\))\s*(?:Frau|Herr|weiblich|männlich|w|m)\b\s*(?:☐|☒|☑|\[[ xX]?\]|\([ xX]\))\s*"
    r"(?:Frau|Herr|weiblich|männlich|w|m)\b"
)


def ticked_salutation(lines: Sequence[str]) -> str:
    """`☐ Frau ☒ Herr`, `[ ] m  [x] w`: what is ticked in a row of a form; "" where there is no such row."""
    return next((ticked_word(line[:300]) for line in lines if _SALUTATION_BOXES.search(line[:300])), "")
